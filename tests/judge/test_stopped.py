"""Whoever says that something else than its stop ended a job must show it where the job ended."""

import pytest

from app.judge.admissible import Grounds
from app.judge.opinion import Weighed, weigh
from app.judge.verdict import judge
from app.located import Located
from app.model import Detected, Ending, Finding, Job, LogFile, Point
from app.opinion import Opinion, Quoted
from tests.small_rules import a_cause, a_finding, a_line, a_rulebook, a_signal

BOOK = a_rulebook(
    [
        a_cause("Cancelled", "scheduler"),
        a_cause("ECCError", "infrastructure"),
        a_cause("NonFiniteLoss", "training"),
        a_cause("Stalled", "training"),
    ],
    [
        a_signal("interrupted", "Cancelled"),
        a_signal("eccerror", "ECCError"),
        a_signal("nonfinite", "NonFiniteLoss"),
    ],
)
FILES = (LogFile("rank0.log", 9, 99, 99), LogFile("kernel.log", 9, 99, 99))
STOP = a_finding("Cancelled", a_line(80), signal="interrupted", strength="clue")
NAN = float("nan")


def weighed(
    says: str,
    *quotes: tuple[int, str],
    losses: tuple[float, ...] = (2.0, NAN, NAN, 1.9, 1.8),
    findings: tuple[Finding, ...] = (STOP,),
    file: str = "rank0.log",
) -> Weighed:
    """Readings at the lines 30, 40 and so on, the stop at line 80."""
    detected = Detected(findings, Ending(), Located())
    verdict, root = judge(detected, BOOK, FILES, Job())
    points = [
        Point(0, 30 + 10 * n, "s", step=n, loss=loss, text="loss") for n, loss in enumerate(losses)
    ]
    grounds = Grounds(detected, root, FILES, Job(), BOOK, (), points)
    quoted = tuple(Quoted(file, number, text) for number, text in quotes)
    return weigh(verdict, Opinion(says, "certain", quoted, "nothing"), grounds, "rules")


def cause(found: Weighed) -> str:
    return found.verdict.primary.cause


@pytest.mark.parametrize(
    "quotes",
    [
        [(40, "loss nan")],
        [(40, "loss nan"), (80, "KeyboardInterrupt")],
        [(40, "loss nan"), (70, "loss 1.8"), (82, "saved")],
    ],
)
def test_a_loss_that_came_back_before_the_stop_is_not_the_cause(quotes):
    found = weighed("NonFiniteLoss", *quotes)
    assert cause(found) == "Cancelled"
    assert found.opinion.weight == "none"
    assert "training went on after all that it quotes" in found.verdict.remarks[-1]


def test_a_loss_that_was_no_number_until_the_stop_is():
    losses = (2.0, NAN, NAN, NAN, NAN)
    found = weighed("NonFiniteLoss", (40, "loss nan"), (70, "loss nan"), losses=losses)
    assert (cause(found), found.opinion.weight) == ("NonFiniteLoss", "names")


def test_what_is_quoted_from_the_last_step_of_any_rank_stands_at_the_end():
    assert cause(weighed("ECCError", (71, "uncorrectable error"))) == "ECCError"
    assert cause(weighed("ECCError", (55, "uncorrectable error"))) == "Cancelled"


def test_what_rules_prove_may_be_chosen_wherever_it_stands():
    proof = a_finding("NonFiniteLoss", a_line(40), signal="nonfinite")
    stop = a_finding("Cancelled", a_line(80), signal="interrupted")
    found = weighed("NonFiniteLoss", (40, "loss nan"), findings=(stop, proof))
    assert cause(found) == "NonFiniteLoss"


def test_a_long_silence_may_be_told_by_the_last_step_or_by_what_follows_the_stop():
    assert cause(weighed("Stalled", (70, "step 4"))) == "Stalled"
    assert cause(weighed("Stalled", (90, "last step two days ago"))) == "Stalled"
    assert cause(weighed("Stalled", (40, "step 1"))) == "Cancelled"


def test_a_log_of_the_kernel_knows_no_steps():
    assert cause(weighed("ECCError", (7, "uncorrectable error"), file="kernel.log")) == "ECCError"


def test_without_readings_the_last_lines_before_the_stop_count():
    assert cause(weighed("ECCError", (75, "uncorrectable error"), losses=())) == "ECCError"
    assert cause(weighed("ECCError", (5, "uncorrectable error"), losses=())) == "Cancelled"
