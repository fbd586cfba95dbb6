"""Who stands out where everybody waits, and what kept the rank that was waited for."""

from app.detect.awaited import awaited
from app.detect.collectives import odd_ones, parted
from app.detect.leads import leads
from app.detect.quiet import quiet_ones
from app.detect.sections import sections
from app.detect.speakers import first_rank, rank_of_labels
from app.located import Section, pci_address
from app.model import Finding, Line, Marked, Point, Sighting
from tests.small_rules import a_line


def said(number: int, text: str, rank: int | None = None, stream: str = "") -> Line:
    return Line(0, number, text, text, rank, stream=stream)


def waits(number: int, rank: int, op: str = "ALLREDUCE", seq: int = 7, size: int = 64) -> Line:
    work = f"WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={size}, NumelOut={size})"
    return said(number, f"[Rank {rank}] Watchdog caught timeout: {work}", rank=rank)


def mark(number: int, kind: str = "place", **facts: str) -> Marked:
    return Marked(f"mark_{number}", kind, a_line(number), facts=facts)


def ranks(lines: list[Line]) -> list[int | None]:
    return [lead.rank for lead in odd_ones(lines)]


def test_the_rank_in_another_operation_or_size_or_number_is_odd() -> None:
    usual = [waits(n, n) for n in range(3)]
    assert ranks([*usual, waits(9, 3, op="BROADCAST")]) == [3]
    assert ranks([*usual, waits(9, 3, size=65)]) == [3]
    assert ranks([*usual, waits(9, 3, seq=6)]) == [3]
    assert parted([*usual, waits(9, 3, op="BROADCAST")])
    assert not parted([*usual, waits(9, 3, size=65)])


def test_nobody_is_odd_among_halves_or_where_sizes_may_differ() -> None:
    assert ranks([waits(n, n, op="ALLREDUCE" if n % 2 else "BROADCAST") for n in range(8)]) == []
    assert ranks([waits(n, n, op="ALLTOALL_BASE", size=n) for n in range(8)]) == []


def test_who_named_by_most_lines_comes_first_and_long_lists_name_nobody() -> None:
    marks = [
        mark(1, "blame", peer_rank="3"),
        mark(2, "blame", peer_host="gpu-b"),
        mark(3, "blame", peer_host="gpu-b"),
        mark(4, "blame", peer_rank="1, 2, 4, 5, 6, 7"),
    ]
    found = leads([], marks, [])
    assert [(lead.host, lead.rank) for lead in found] == [("gpu-b", None), (None, 3)]
    assert found[0].why == "named by 2 lines"


def test_the_rank_whose_steps_end_first_went_quiet() -> None:
    points = [
        Point(0, 10 * step + rank, "s", rank=rank, step=step)
        for step in range(1, 6)
        for rank in range(4)
        if (step, rank) != (5, 2)
    ]
    (quiet,) = quiet_ones(points)
    assert (quiet.rank, quiet.why) == (2, "made step 4 last, the others 5")
    assert list(quiet_ones([p for p in points if p.rank in (1, 2)])) == []


def test_work_that_rank_0_does_alone_is_told_from_a_hang() -> None:
    late = [waits(9, 1), waits(10, 2)]
    seen = tuple(Sighting("timed_out", line, "proof") for line in late)
    found = [Finding("NCCLTimeoutError", "timed_out", "proof", seen, 2)]
    busy = said(5, "Running tokenizer on dataset: 12%")
    assert awaited([busy, *late], [], found) == "preparation"
    assert awaited([said(5, "evaluating on 40 tasks", rank=0), *late], [], found) == "evaluation"
    assert awaited([said(5, "evaluating on 40 tasks", rank=1), *late], [], found) == ""
    trained = [Point(0, 6, "s", step=9, loss=2.0)]
    assert awaited([busy, *late], trained, found) == ""


def test_a_heading_gives_what_follows_to_a_host_up_to_the_next() -> None:
    lines = [
        said(1, "=== dmesg of node-17 ==="),
        said(5, "=== job log ==="),
        said(7, "-----------"),
        said(8, "gpu-9"),
        said(9, "-----------"),
        said(12, "=== step 17 ==="),
    ]
    found = sections(lines, [mark(20, "section", rank="3")])
    assert found == {
        0: (Section(1, "node-17"), Section(5), Section(9, "gpu-9"), Section(20, None, 3))
    }


def test_a_rule_of_a_hundred_thousand_signs_is_no_heading() -> None:
    text = " of no heading" * 10
    assert sections([said(1, f"{sign * 50_000}{text}") for sign in ("__", "-_", "==")], []) == {}
    rule = "-" * 5
    names = [said(2 * n + 2, f"a{sign * 100_000}!") for n, sign in enumerate("a1-")]
    rules = [said(2 * n + 1, rule) for n in range(4)]
    assert sections(sorted([*names, *rules], key=lambda line: line.number), []) == {}


def test_the_rank_of_a_nodes_process_is_counted_from_its_node() -> None:
    node = [mark(1, node_rank="2"), mark(2, processes="8")]
    assert first_rank(node, hosts=1) == 16
    assert first_rank([*node, mark(3, node_rank="3")], hosts=1) is None
    assert first_rank([], hosts=1) == 0
    assert first_rank([], hosts=2) is None
    label = said(1, "step 3", stream="default 5")
    assert rank_of_labels([label], node, 16) == {(0, "default 5"): 21}


def test_an_actor_is_the_rank_that_a_list_or_its_own_words_say() -> None:
    stream = "Worker pid=41, ip=10.0.0.4"
    listed = mark(1, pid="41", rank="3", host="10.0.0.4")
    assert rank_of_labels([said(2, "loaded", stream=stream)], [listed], None) == {(0, stream): 3}
    own = said(2, "rank 5 uploading", stream=stream)
    assert rank_of_labels([own], [], None) == {(0, stream): 5}
    assert rank_of_labels([own, said(3, "rank 6 is late", stream=stream)], [], None) == {}


def test_one_gpu_has_one_address_however_it_is_spelt() -> None:
    spelt = ("0000:5d:00", "00000000:5D:00.0", "5d000", "5d:00.0")
    assert {pci_address(text) for text in spelt} == {0x5D000}
    assert pci_address("3") is None
    assert pci_address("cuda") is None
