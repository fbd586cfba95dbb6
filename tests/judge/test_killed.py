"""Who was killed, where the log does not say by whom."""

import pytest

from app.judge.killed import kills
from app.located import Located
from app.model import Detected, Ending, Marked
from tests.small_rules import a_line


def told(*exits: dict[str, str]) -> tuple[str, ...]:
    marks = tuple(
        Marked("gone", "exit", a_line(n), None, facts) for n, facts in enumerate(exits, 1)
    )
    where = Located(host_of_rank={3: "gpu-17"}, first_rank=0)
    return kills(Detected((), Ending(), where, exits=marks))


@pytest.mark.parametrize(
    ("facts", "who"),
    [
        ({"code": "-9", "rank": "3"}, "rank 3 on gpu-17 was"),
        ({"code": "137", "local_rank": "5"}, "rank 5 was"),
        ({"signal": "SIGKILL", "host": "gpu-4"}, "a process on gpu-4 was"),
        ({"signal": "Killed"}, "a process was"),
    ],
)
def test_the_killed_process_is_named_as_far_as_it_is_known(facts: dict[str, str], who: str) -> None:
    assert told(facts) == (f"{who} killed (SIGKILL), and the log does not say by whom",)


def test_of_several_the_best_known_one_is_named() -> None:
    (said,) = told({"signal": "Killed"}, {"code": "-9", "rank": "3"}, {"code": "-9", "rank": "3"})
    assert said.startswith("rank 3 on gpu-17 and 1 more were killed")


def test_other_ends_are_no_kill() -> None:
    assert told({"code": "1"}, {"code": "-15", "rank": "3"}, {"signal": "SIGTERM"}) == ()
