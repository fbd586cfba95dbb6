"""Where the fault may sit: who printed the evidence, whom it blames, or who kept silent."""

from dataclasses import replace

import pytest

from app.judge.suspects import of_a_death, suspects
from app.located import Located, Suspect
from app.model import Detected, Ending, Finding, Marked, Sighting
from tests.small_rules import a_cause, a_finding, a_line, a_rulebook, a_signal

BOOK = a_rulebook(
    [
        a_cause("ECCError", "infrastructure"),
        a_cause("NetworkError", "infrastructure"),
        a_cause("NCCLTimeoutError", "infrastructure"),
        a_cause("NCCLRemoteError", "infrastructure"),
        a_cause("KeyError", "script"),
        a_cause("NodeFailure", "infrastructure"),
    ],
    [
        a_signal("blames", "NetworkError", suspect="peer"),
        a_signal("lost", "NCCLRemoteError", suspect="peer"),
        a_signal("argument", "KeyError", suspect="nobody"),
        a_signal("timed_out", "NCCLTimeoutError"),
        a_signal("off_the_bus", "NodeFailure"),
        a_signal("host_gone", "NodeFailure", suspect="peer"),
    ],
)
TWO_HOSTS = Located(
    host_of_rank={0: "gpu-a", 1: "gpu-a", 2: "gpu-b", 3: "gpu-b"},
    gpu_of_rank={3: "9b000"},
    host_of_ip={"10.0.0.7": "gpu-b"},
    world=4,
)


def named(
    root: Finding,
    *others: Finding,
    where: Located = TWO_HOSTS,
    exits: tuple[Marked, ...] = (),
) -> tuple[Suspect, ...]:
    return suspects(root, Detected((root, *others), Ending(), where, exits=exits), BOOK)


def by_ranks(cause: str, *ranks: int, **more: object) -> Finding:
    lines = [a_line(n, rank=rank) for n, rank in enumerate(ranks, 1)]
    return a_finding(cause, *lines, **more)


def blaming(*facts: dict[str, str], signal: str = "blames") -> Finding:
    cause = BOOK.signal_named[signal].cause
    seen = tuple(Sighting(signal, a_line(n), "proof", told) for n, told in enumerate(facts, 1))
    return Finding(cause, signal, "proof", seen, len(seen))


def test_who_printed_it_first_is_first_to_fail() -> None:
    first, second = named(by_ranks("KeyError", 2, 1))
    assert (first.rank, first.host, first.why) == (2, "gpu-b", "first to fail")
    assert (second.rank, second.host, second.why) == (1, "gpu-a", "failed as well")


def test_a_place_is_completed_from_what_is_known_of_the_rank() -> None:
    (only,) = named(by_ranks("ECCError", 3))
    assert (only.host, only.rank, only.gpu) == ("gpu-b", 3, "9b000")


def test_the_line_itself_knows_better_than_the_map() -> None:
    facts = {"rank": "1", "host": "gpu-c", "gpu": "3b000", "nic": "mlx5_2"}
    (only,) = named(a_finding("ECCError", a_line(1, rank=3, host="gpu-x"), facts=facts))
    assert (only.host, only.rank, only.gpu, only.nic) == ("gpu-c", 1, "3b000", "mlx5_2")


@pytest.mark.parametrize(("ip", "host"), [("10.0.0.7", "gpu-b"), ("10.0.0.9", "10.0.0.9")])
def test_an_address_is_given_the_name_of_its_host_where_that_is_known(ip: str, host: str) -> None:
    (only,) = named(a_finding("ECCError", facts={"ip": ip}))
    assert only.host == host


def test_peers_are_blamed_by_how_many_lines_name_them() -> None:
    found = named(
        blaming(
            {"peer": "gpu-c<55912>"},
            {"peer": "10.0.0.7:29500"},
            {"peer": "10.0.0.7<41000>"},
            {"peer_host": "gpu-b"},
            {},
        )
    )
    assert [(s.host, s.why) for s in found] == [
        ("gpu-b", "blamed by 3 lines"),
        ("gpu-c", "blamed by 1 line"),
    ]


def test_a_peer_known_by_its_rank_alone_gets_its_host() -> None:
    (only,) = named(blaming({"peer_rank": "0"}))
    assert (only.host, only.rank) == ("gpu-a", 0)
    (only,) = named(blaming({"peer_rank": "9"}))
    assert (only.host, only.rank) == (None, 9)


def test_whoever_merely_reports_a_peer_is_not_accused() -> None:
    assert named(blaming({}, {})) == ()


def test_the_only_rank_that_did_not_time_out_is_the_suspect() -> None:
    (only,) = named(by_ranks("NCCLTimeoutError", 0, 1, 2))
    assert (only.rank, only.host, only.gpu) == (3, "gpu-b", "9b000")
    assert only.why == "the only rank that did not time out"


def test_the_silent_one_is_found_among_a_thousand() -> None:
    ranks = [rank for rank in range(1024) if rank != 517]
    found = named(by_ranks("NCCLTimeoutError", *ranks), where=Located(world=1024))
    assert [(s.rank, s.host) for s in found] == [(517, None)]


def test_many_silent_ranks_say_nothing() -> None:
    assert named(by_ranks("NCCLTimeoutError", 0), where=Located(world=4)) == ()
    assert named(by_ranks("NCCLTimeoutError", 0, 1, 2, 3), where=Located(world=4)) == ()


def test_whoever_waited_is_never_accused() -> None:
    assert named(by_ranks("NCCLTimeoutError", 0, 1), where=Located(world=2)) == ()


def test_what_all_ranks_raise_accuses_nobody() -> None:
    assert named(by_ranks("KeyError", 0, 1, 2, 3)) == ()
    where = Located(world=64)
    assert named(by_ranks("KeyError", *range(64)), where=where) == ()
    assert len(named(by_ranks("KeyError", 7, 9), where=where)) == 2


def test_one_line_for_each_of_two_ranks_accuses_neither_where_there_are_no_others() -> None:
    assert named(by_ranks("KeyError", 0, 1), where=Located(world=2)) == ()


def test_a_gpu_that_is_named_is_accused_however_many_ranks_complain() -> None:
    found = named(by_ranks("ECCError", 0, 1, 2, 3, facts={"gpu": "3b000"}))
    assert {s.gpu for s in found} == {"3b000"}


def test_a_wrong_argument_accuses_nobody() -> None:
    assert named(by_ranks("KeyError", 0, 3, signal="argument")) == ()
    assert named(a_finding("KeyError", a_line(1), signal="argument")) == ()


def test_a_wrong_argument_that_one_rank_alone_met_is_looked_for_there() -> None:
    (only,) = named(by_ranks("KeyError", 3, signal="argument"))
    assert (only.rank, only.why) == (3, "the only rank that met it")


def test_the_one_that_others_waited_for_is_where_an_error_without_a_rank_was() -> None:
    found = named(a_finding("KeyError", a_line(1)), by_ranks("NCCLTimeoutError", 0, 1, 3))
    assert [place.rank for place in found] == [2]


def test_a_host_that_several_lost_goes_before_those_that_tell_of_it() -> None:
    told = tuple(
        Sighting("blames", a_line(n, host=host), "proof", {"peer": "10.0.0.7<4711>"})
        for n, host in enumerate(("gpu-c", "gpu-d"))
    )
    first, *others = named(Finding("NetworkError", "blames", "proof", told, 2))
    assert (first.host, first.why) == ("gpu-b", "2 hosts lost their connection to it")
    assert {place.host for place in others} == {"gpu-c", "gpu-d"}


def test_what_two_findings_of_one_cause_tell_of_one_place_is_joined() -> None:
    kernel = a_finding("ECCError", a_line(1, host="gpu-b"), facts={"gpu": "0000:9b:00"})
    (only,) = named(kernel, by_ranks("ECCError", 3, signal="raised"), where=Located(
        host_of_rank={3: "gpu-b"}, world=4))  # fmt: skip
    assert (only.host, only.rank, only.gpu) == ("gpu-b", 3, "0000:9b:00")


@pytest.mark.parametrize(
    ("one", "other", "places"),
    [
        ("0000:9b:00", "0000:9b:00.0", 1),
        ("0000:9b:00.0", "00000000:9B:00", 1),
        ("0000:9b:00", "0000:9c:00.0", 2),
        ("3", "4", 2),
    ],
)
def test_a_gpu_is_one_suspect_however_its_address_is_written(
    one: str, other: str, places: int
) -> None:
    driver = a_finding("ECCError", a_line(1, host="gpu-b"), facts={"gpu": one})
    bus = a_finding("ECCError", a_line(2, host="gpu-b"), facts={"gpu": other})
    found = named(driver, bus)
    assert [place.gpu for place in found] == [one, other][:places]


def test_findings_of_another_cause_accuse_nobody_here() -> None:
    found = named(by_ranks("ECCError", 3), by_ranks("KeyError", 0))
    assert [suspect.rank for suspect in found] == [3]


def test_the_first_process_that_failed_is_named_where_the_evidence_names_nobody() -> None:
    exits = tuple(
        Marked("ended", "exit", a_line(n), facts={"rank": rank, "code": code})
        for n, (rank, code) in enumerate([("0", "0"), ("1", "-15"), ("2", "-9"), ("3", "1")])
    )
    (only,) = named(a_finding("KeyError"), exits=exits)
    assert (only.rank, only.host) == (2, "gpu-b")


def test_the_only_host_of_the_job_is_where_a_machine_failed() -> None:
    one = Located(only_host="gpu-a", world=8)
    (only,) = named(a_finding("ECCError"), where=one)
    assert only.host == "gpu-a"
    assert named(a_finding("KeyError"), where=one) == ()
    assert named(a_finding("NCCLTimeoutError"), where=one) == ()


def test_no_more_than_six_places_are_named() -> None:
    lines = [a_line(n, host=f"gpu-{n}") for n in range(40)]
    assert len(named(a_finding("ECCError", *lines))) == 6


def test_no_loopback_address_is_a_place() -> None:
    lost = a_finding("NCCLRemoteError", a_line(3), signal="lost", facts={"peer_host": "127.0.0.1"})
    assert named(lost) == ()
    led = (Suspect("127.0.0.1", why="named by 2 lines"), Suspect("gpu-b", 2))
    assert of_a_death(Detected((), Ending(), TWO_HOSTS, leads=led)) == (Suspect("gpu-b", 2),)


@pytest.mark.parametrize(("signal", "ranks"), [("off_the_bus", [3]), ("host_gone", [None])])
def test_the_rank_that_reports_a_lost_peer_lost_no_gpu_of_its_own(
    signal: str, ranks: list[int | None]
) -> None:
    root = a_finding("ECCError", a_line(1, host="gpu-b"))
    told = replace(by_ranks("NodeFailure", 3), signal=signal)
    assert [place.rank for place in named(root, told)] == ranks


@pytest.mark.parametrize(
    "text",
    [
        "EDAC MC2: 1 UE memory read error on CPU#1_DIMM#0 (channel:2 slot:0 rank:0 bg:1 ba:3)",
        "{1}[Hardware Error]: node:0 card:1 module:0 rank:1 bank:4 device:0",
    ],
)
def test_a_row_of_chips_on_a_memory_module_is_no_rank_of_the_job(text: str) -> None:
    assert named(a_finding("ECCError", a_line(1, text=text))) == ()
    assert named(a_finding("ECCError", a_line(1, text="memory error seen by rank 3")))[0].rank == 3


def test_where_each_node_has_a_log_the_process_that_ended_beside_the_evidence_goes_before() -> None:
    facts = ({"rank": "0", "order": "observed"}, {"rank": "2", "order": "observed"})
    lines = (a_line(1, file=0), a_line(1, file=1))
    exits = tuple(
        Marked("table", "exit", line, facts={"code": "1", **own})
        for line, own in zip(lines, facts, strict=True)
    )
    (only,) = named(a_finding("ECCError", a_line(7, file=1)), exits=exits)
    assert (only.rank, only.host) == (2, "gpu-b")
