"""Where one attempt ends and the next begins, over one file and over many."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.detect.attempts import cut
from app.model import Attempt, Compressed, Line, LogFile, Marked, Point, Sighting

STORY = {"S": "start", "F": "finished", "X": "failed", "E": "exit", "P": "place", "C": "saved"}


def log_of(
    stories: dict[str, str], clocks: dict[str, Sequence[float]] | None = None
) -> tuple[Compressed, list[Marked], list[Sighting]]:
    """Write a log as a letter a line: marks as above, `p`roof, `c`lue, `e`cho, `1`-`9` steps.

    A start by rank 3 is written `s`, by rank 4 `t`.
    """
    lines, marks, sightings, points = [], [], [], []
    for file, (name, story) in enumerate(stories.items()):
        times = (clocks or {}).get(name, ())
        for number, letter in enumerate(story, 1):
            rank = {"s": 3, "t": 4}.get(letter)
            time = times[number - 1] if times else None
            line = Line(file, number, letter, letter, rank=rank, time=time)
            lines.append(line)
            kind = "start" if rank else STORY.get(letter)
            if kind:
                marks.append(Marked(f"mark_{letter}", kind, line))
            for strength in ("proof", "clue", "echo"):
                if letter == strength[0]:
                    sightings.append(Sighting("leak", line, strength))
            if letter.isdigit():
                points.append(Point(file, number, "train", step=int(letter)))
    files = tuple(LogFile(name, len(s), len(s), len(s)) for name, s in stories.items())
    return Compressed(files, tuple(lines), (), tuple(points)), marks, sightings


def attempts(stories: dict[str, str], **clocks: Sequence[float]) -> tuple[Attempt, ...]:
    return cut(*log_of(stories, clocks))


def spans(story: str) -> list[tuple[int, int]]:
    return [attempt.spans[0] for attempt in attempts({"log": story})]


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        ("...p.", [(1, 5)]),
        ("S.1p", [(1, 4)]),
        ("SSSSSSSS12p", [(1, 11)]),
        ("..S.S..S.1p", [(1, 11)]),
        ("S12pXS12p", [(1, 5), (6, 9)]),
        ("S12pXSSS.S12p", [(1, 5), (6, 13)]),
        ("S1FS1p", [(1, 3), (4, 6)]),
        ("1p..S1p", [(1, 4), (5, 7)]),
        ("S.eS.eS.e", [(1, 3), (4, 6), (7, 9)]),
        ("SES1", [(1, 2), (3, 4)]),
        ("ScS1", [(1, 4)]),
        ("SPSCS1", [(1, 6)]),
        ("S1S", [(1, 2), (3, 3)]),
    ],
)
def test_a_start_cuts_where_the_job_had_gone_on_since_the_last_one(
    story: str, expected: list[tuple[int, int]]
) -> None:
    assert spans(story) == expected


def test_a_log_without_any_line_is_one_attempt_all_the_same() -> None:
    assert [attempt.spans for attempt in attempts({"log": "", "other": ""})] == [{}]


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        ("s.pt1p", [(1, 6)]),
        ("st1pst2", [(1, 4), (5, 7)]),
        ("st1pts2", [(1, 4), (5, 7)]),
        ("st1pS2", [(1, 4), (5, 6)]),
        ("S1ps2", [(1, 3), (4, 5)]),
    ],
)
def test_a_rank_that_starts_late_does_not_begin_a_new_attempt(
    story: str, expected: list[tuple[int, int]]
) -> None:
    assert spans(story) == expected


def test_a_mark_in_one_file_cuts_no_other() -> None:
    first, second = attempts({"a": "S1pS2", "b": "P.C.."})
    assert first.spans == {0: (1, 3)}
    assert second.spans == {0: (4, 5), 1: (1, 5)}


def test_files_are_laid_beside_each_other_from_the_end() -> None:
    first, second, third = attempts({"a": "S1pS1pS1p", "b": "S1pS1p", "c": "1p"})
    assert first.spans == {0: (1, 3)}
    assert second.spans == {0: (4, 6), 1: (1, 3)}
    assert third.spans == {0: (7, 9), 1: (4, 6), 2: (1, 2)}


def test_a_file_that_ends_before_an_attempt_began_belongs_to_an_earlier_one() -> None:
    first, second = attempts(
        {"node-a": "S1pS1p", "gone": "S1p", "spare": "S1."},
        **{"node-a": [0, 10, 20, 100, 110, 120], "gone": [0, 10, 21], "spare": [101, 111, 121]},
    )
    assert first.spans == {0: (1, 3), 1: (1, 3)}
    assert second.spans == {0: (4, 6), 2: (1, 3)}


@pytest.mark.parametrize(
    "names",
    [
        ["attempt_0/3/stderr.log", "attempt_1/3/stderr.log"],
        ["run_7/attempt_0/0.log", "run_7/attempt_1/0.log"],
        ["job.restart1.out", "job.restart2.out"],
        ["slurm-4711-requeue0.out", "slurm-4711-requeue1.out"],
        ["Attempt-9.log", "Attempt-10.log"],
    ],
)
def test_names_with_the_number_of_an_attempt_tell_them_apart(names: list[str]) -> None:
    first, second = attempts(dict.fromkeys(names, "S1p"))
    assert first.spans == {0: (1, 3)}
    assert second.spans == {1: (1, 3)}


def test_several_files_may_bear_the_name_of_one_attempt() -> None:
    first, second = attempts(
        {
            "attempt_0/1.log": "1",
            "attempt_1/0.log": "1",
            "attempt_1/1.log": "2",
            "attempt_0/0.log": "1",
        }
    )
    assert first.spans == {0: (1, 1), 3: (1, 1)}
    assert second.spans == {1: (1, 1), 2: (1, 1)}


@pytest.mark.parametrize(
    "names",
    [
        ["torchrun_0.log", "torchrun_1.log"],
        ["run_0.log", "run_1.log"],
        ["srun1.out", "srun2.out"],
        ["entry-0.log", "entry-1.log"],
        ["node0-attempt1.log", "node1-attempt1.log"],
        ["attempt_0.log", "dmesg.txt"],
    ],
)
def test_names_that_count_something_else_are_files_of_one_attempt(names: list[str]) -> None:
    (only,) = attempts(dict.fromkeys(names, "S1p"))
    assert only.spans == {0: (1, 3), 1: (1, 3)}


def test_files_that_were_written_side_by_side_are_no_attempts_whatever_their_names() -> None:
    names = {"run_0.log": "S1p", "run_1.log": "S1p"}
    assert len(attempts(names, **{"run_0.log": [0, 10, 20], "run_1.log": [1, 11, 21]})) == 1
    assert len(attempts(names, **{"run_0.log": [0, 10, 20], "run_1.log": [30, 40, 50]})) == 2


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "attempt_1", "attempt_2", "run3.log"]),
        st.text("SsTtFXEPCpce12.", max_size=12),
        min_size=1,
        max_size=4,
    )
)
def test_every_line_belongs_to_exactly_one_attempt(stories: dict[str, str]) -> None:
    found = attempts(stories)
    assert [attempt.number for attempt in found] == list(range(1, len(found) + 1))
    for file, story in enumerate(stories.values()):
        for number in range(1, len(story) + 1):
            assert sum(attempt.holds(file, number) for attempt in found) == 1
        assert not any(attempt.holds(file, len(story) + 1) for attempt in found)


def test_a_year_that_was_not_known_yet_hides_no_start() -> None:
    year = 365 * 86_400.0
    times = [year + 1, year + 2, 3, 4, 5, 6]
    assert [a.spans[0] for a in attempts({"log": "S1FS1p"}, log=times)] == [(1, 3), (4, 6)]


def test_a_file_that_is_named_after_an_attempt_may_hold_several() -> None:
    found = attempts({"attempt_1.log": "S1p", "attempt_2.log": "S1FS1p"})
    assert [dict(attempt.spans) for attempt in found] == [{0: (1, 3)}, {1: (1, 3)}, {1: (4, 6)}]
