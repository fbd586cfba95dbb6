"""A restart of an agent is no restart of the job that it ran."""

from collections.abc import Mapping, Sequence

import pytest

from app.detect.agents import of_the_job
from app.model import Compressed, Line, LogFile, Point

_TIMES: Mapping[int, Sequence[float | None]] = {0: (10, 20, 90, 95), 1: (11, 21, 31)}


def a_log(
    times: Mapping[int, Sequence[float | None]] = _TIMES, steps: Sequence[int] = ()
) -> Compressed:
    lines = tuple(
        Line(file, number, "x", "x", time=time)
        for file, own in times.items()
        for number, time in enumerate(own, 1)
    )
    files = tuple(LogFile(f"{file}.log", len(own), 0, 0) for file, own in times.items())
    points = tuple(Point(file, 2, "train", step=1) for file in steps)
    return Compressed(files, lines, (), points)


def test_a_file_that_alone_goes_on_is_that_of_an_agent() -> None:
    assert of_the_job({0: [3], 1: []}, {}, a_log()) == {1: []}


@pytest.mark.parametrize(
    "log",
    [
        a_log({0: (10, 20, 90, 95)}),
        a_log({0: (10, 20, 90, 95), 1: (11, 21, 92)}),
        a_log({0: (10, 20, None, None), 1: (11, 21, 31)}),
        a_log({0: (10, 20, 90, 95), 1: (None, None)}),
        a_log(steps=[0]),
    ],
)
def test_a_restart_counts_where_the_others_go_on_or_it_is_of_who_trains(log: Compressed) -> None:
    assert of_the_job({0: [3]}, {}, log) == {0: [3]}


def test_a_restart_counts_where_another_file_begins_anew() -> None:
    assert of_the_job({0: [3], 1: [2]}, {}, a_log()) == {0: [3], 1: [2]}
    assert of_the_job({0: [3]}, {1: [2]}, a_log()) == {0: [3]}


def test_no_restart_counts_where_who_trains_does_not_begin_anew() -> None:
    assert of_the_job({0: [3]}, {}, a_log({0: (10, 20, 90), 1: (11, 92)}, steps=[1])) == {}
