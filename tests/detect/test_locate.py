"""Which rank runs where, and which processes ended, from all that a log tells of it."""

from app.detect.locate import exits, joined, locate
from app.model import Line, Marked
from tests.small_rules import a_line


def mark(
    number: int, kind: str = "place", *, line: Line | None = None, name: str = "", **facts: str
) -> Marked:
    return Marked(name or f"mark_{number}", kind, line or a_line(number), facts=facts)


def test_prefixes_tell_where_ranks_run_and_the_commonest_answer_counts() -> None:
    lines = [a_line(n, rank=3, host="hall-a") for n in range(3)]
    lines += [a_line(9, rank=3, host="hall-b"), a_line(10, rank=4, host="hall-b"), a_line(11)]
    found = locate(lines, [])
    assert found.host_of_rank == {3: "hall-a", 4: "hall-b"}
    assert found.world == 5
    assert found.only_host is None


def test_a_mark_weighs_more_than_a_few_prefixes() -> None:
    lines = [a_line(n, rank=3, host="hall-a") for n in range(3)]
    found = locate(lines, [mark(9, rank="3", host="hall-b", gpu="3b000")])
    assert found.host_of_rank == {3: "hall-b"}
    assert found.gpu_of_rank == {3: "3b000"}


def test_what_a_mark_does_not_say_its_prefix_may() -> None:
    found = locate([], [mark(1, line=a_line(1, rank=7, host="hall-c"), gpu="9b000", ip="10.0.0.7")])
    assert found.host_of_rank == {7: "hall-c"}
    assert found.gpu_of_rank == {7: "9b000"}
    assert found.host_of_ip == {"10.0.0.7": "hall-c"}


def test_ranks_of_sub_groups_are_not_those_of_the_job() -> None:
    found = locate(
        [],
        [
            mark(1, rank="0", world="16", host="hall-a"),
            mark(9, rank="8", world="16", host="hall-b"),
            mark(20, rank="0", world="2", host="hall-b"),
        ],
    )
    assert found.host_of_rank == {0: "hall-a", 8: "hall-b"}


def test_the_only_host_is_known_and_an_address_is_no_second_one() -> None:
    lines = [a_line(1, host="hall-a"), a_line(2, host="10.0.0.7")]
    assert locate(lines, []).only_host == "hall-a"
    assert locate(lines[1:], []).only_host == "10.0.0.7"
    assert locate([a_line(1)], []).only_host is None


def test_odd_digits_are_no_rank() -> None:
    assert locate([], [mark(1, rank="²", host="hall-a"), mark(9, rank="-1", host="b")]).world == 0


def test_rows_of_a_table_are_one_report() -> None:
    (table,) = joined(
        [
            mark(10, "exit", host="hall-a"),
            mark(11, "exit", rank="3", local_rank="3"),
            mark(12, "exit", code="-9", pid="55"),
        ]
    )
    assert table.facts == {
        "host": "hall-a", "rank": "3", "local_rank": "3", "code": "-9", "pid": "55",
    }  # fmt: skip
    assert table.line.number == 10


def test_rows_that_disagree_or_stand_far_apart_or_elsewhere_are_reports_of_their_own() -> None:
    assert len(list(joined([mark(1, rank="3"), mark(2, rank="4")]))) == 2
    assert len(list(joined([mark(1, rank="3"), mark(9, host="hall-a")]))) == 2
    assert len(list(joined([mark(1, rank="3"), mark(2, line=a_line(2, file=1), host="b")]))) == 2
    assert len(list(joined([mark(1, rank="3"), mark(2, line=a_line(2, rank=5), host="b")]))) == 2
    assert list(joined([mark(1, "start", rank="3"), mark(2, "saved")])) == []


def test_a_row_that_comes_again_begins_the_next_table() -> None:
    rows = [
        mark(10, "exit", name="host", host="hall-a"),
        mark(11, "exit", name="rank", rank="3"),
        mark(13, "exit", name="host", host="hall-a"),
        mark(14, "exit", name="rank", rank="4"),
    ]
    assert [dict(table.facts) for table in joined(rows)] == [
        {"host": "hall-a", "rank": "3"},
        {"host": "hall-a", "rank": "4"},
    ]


def test_a_process_ended_once_however_many_tell_of_it() -> None:
    found = exits(
        [
            mark(1, "exit", name="failed", code="-9", pid="55", local_rank="1"),
            mark(20, "exit", name="table", rank="9"),
            mark(21, "exit", name="code", code="-9", pid="55"),
            mark(40, "exit", name="failed", code="1", pid="56"),
            mark(60, "place", rank="2", host="hall-b"),
        ]
    )
    assert [dict(one.facts) for one in found] == [
        {"code": "-9", "pid": "55", "local_rank": "1", "rank": "9"},
        {"code": "1", "pid": "56"},
    ]


def test_ends_without_a_process_number_are_kept_apart() -> None:
    found = exits([mark(1, "exit", rank="3", code="1"), mark(2, "exit", rank="4", code="1")])
    assert [one.facts["rank"] for one in found] == ["3", "4"]


def test_a_task_that_is_the_agent_of_a_node_is_no_rank() -> None:
    """Under torchrun, `task 0` of srun is a node: its eight ranks have their own numbers."""
    tells = mark(1, "exit", host="hall-b", rank="10", local_rank="2", code="-6", pid="41")
    agent = mark(30, "exit", host="hall-b", rank="1", code="1")
    assert exits([tells, agent]) == (tells,)
    assert locate([], [tells, agent]).host_of_rank == {10: "hall-b"}


def test_an_agent_whose_processes_say_nothing_is_kept_by_its_host() -> None:
    tells = mark(1, "exit", host="hall-a", rank="3", local_rank="3", code="1", pid="41")
    agent = mark(30, "exit", host="hall-b", rank="1", code="1")
    assert [told.facts for told in exits([tells, agent])] == [
        tells.facts,
        {"host": "hall-b", "code": "1"},
    ]


def test_tasks_are_ranks_where_no_agent_stands_between() -> None:
    tasks = (mark(1, "exit", host="hall-b", rank="1", code="1"),)
    assert exits(tasks) == tasks
