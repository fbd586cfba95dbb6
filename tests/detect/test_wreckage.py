"""Bugs in a clean-up say that somebody cleaned up, and not why."""

import pytest

from app.detect.wreckage import without_wreckage
from app.model import Sighting
from app.rulebook.compiled import Compiled
from tests.small_rules import a_cause, a_line, a_rulebook, a_signal

COMPILED = Compiled(
    a_rulebook(
        [a_cause("NodeFailure"), a_cause("TypeError"), a_cause("NCCLTimeoutError")],
        [
            a_signal("lost", "NodeFailure"),
            a_signal("type", "TypeError"),
            a_signal("waited", "NCCLTimeoutError"),
        ],
    )
)
LOST = Sighting("lost", a_line(20), "proof")


def raised_in(function: str) -> Sighting:
    return Sighting("type", a_line(10), "proof", {"frame": f"/srv/hooks.py:7:{function}"})


def strength(sighting: Sighting, *others: Sighting) -> str:
    return without_wreckage([sighting, *others], COMPILED)[0].strength


@pytest.mark.parametrize(
    "function", ["teardown", "_teardown", "__exit__", "__del__", "on_exception", "handle_sigterm"]
)
def test_a_bug_in_a_clean_up_is_an_echo_where_a_machine_was_lost(function: str) -> None:
    assert strength(raised_in(function), LOST) == "echo"


def test_it_stands_where_nothing_else_tells_why() -> None:
    assert strength(raised_in("teardown")) == "proof"
    assert strength(raised_in("teardown"), Sighting("waited", a_line(20), "proof")) == "proof"
    assert strength(raised_in("teardown"), Sighting("lost", a_line(20), "clue")) == "proof"


@pytest.mark.parametrize("function", ["step", "closest", "train", "finish_step", "exit_code"])
def test_so_does_what_fails_elsewhere(function: str) -> None:
    assert strength(raised_in(function), LOST) == "proof"
