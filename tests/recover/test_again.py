"""When a job may start again by itself, and when no node is taken out for it."""

import pytest

from app.located import Suspect
from app.model import (
    ExplainedCause,
    Finding,
    Job,
    Plan,
    Primary,
    Root,
    Seen,
    Strength,
    Verdict,
)
from app.recover.course import Course
from app.recover.plan import plan
from tests.small_rules import a_cause, a_finding, a_line, a_rulebook, a_signal

BOOK = a_rulebook(
    [
        a_cause("ECCError", action="cordon_and_restart"),
        a_cause("NetworkError", action="restart"),
        a_cause("RuntimeError", action="fix_code"),
        a_cause("Preempted", action="resubmit"),
        a_cause("Cancelled", action="none"),
        a_cause("NCCLTimeoutError", action="restart"),
    ]
)


def planned(
    root: Finding,
    *,
    beside: dict[str, Strength] | None = None,
    explained: tuple[ExplainedCause, ...] = (),
    steps_made: int = 9,
) -> Plan:
    others = tuple(
        Root(name, "s", strength, 1, "log", 1) for name, strength in (beside or {}).items()
    )
    primary = Primary(
        root.cause, "plant", root.signal, root.strength, "high", "f", "s", Seen("log", 20)
    )
    said = Verdict(primary, explained, others, suspects=(Suspect("gpu-1"),))
    return plan(said, root, BOOK, Job(), Course(steps_made=steps_made))


def explained(cause: str, line: int, edge: str = "always") -> tuple[ExplainedCause, ...]:
    return (ExplainedCause(cause, "NetworkError", edge, 1, line, "log"),)


BAD_MEMORY = a_finding("ECCError", a_line(20, host="gpu-1"))


@pytest.mark.parametrize("cause", ["Preempted", "Cancelled"])
def test_no_node_is_taken_out_of_a_job_that_was_taken_off_too(cause: str) -> None:
    assert planned(BAD_MEMORY).targets == ("gpu-1",)
    done = planned(BAD_MEMORY, beside={cause: "clue"})
    assert (done.action, done.targets, done.commands) == ("restart", (), ())
    assert "taken off from outside" in done.steps[0]
    assert planned(BAD_MEMORY, beside={cause: "echo"}).targets == ("gpu-1",)


def test_no_node_is_taken_out_though_its_fault_is_said_to_explain_the_preemption() -> None:
    assert planned(BAD_MEMORY, explained=explained("Preempted", 30)).action == "restart"
    assert planned(BAD_MEMORY, explained=explained("Cancelled", 30)).targets == ("gpu-1",)


@pytest.mark.parametrize(
    ("root", "bug", "restart"),
    [
        ("proof", "proof", False),
        ("proof", "clue", True),
        ("clue", "clue", False),
        ("clue", "echo", True),
    ],
)
def test_nothing_restarts_beside_a_bug_that_is_as_sure(
    root: Strength, bug: Strength, restart: bool
) -> None:
    done = planned(a_finding("NetworkError", strength=root), beside={"RuntimeError": bug})
    assert done.restart is restart


def test_nothing_restarts_over_a_bug_that_was_printed_first() -> None:
    root = a_finding("NetworkError")
    assert not planned(root, explained=explained("RuntimeError", 10)).restart
    assert planned(root, explained=explained("RuntimeError", 30)).restart
    assert planned(root, explained=explained("RuntimeError", 10, "if_earlier")).restart
    assert planned(BAD_MEMORY, explained=explained("RuntimeError", 10)).restart


def test_what_a_wait_ended_in_is_no_bug_that_was_printed_first() -> None:
    root = a_finding("NetworkError", a_line(20))
    waited = explained("NCCLTimeoutError", 5)
    assert planned(root, explained=(*waited, *explained("RuntimeError", 10))).restart
    assert not planned(root, explained=(*waited, *explained("RuntimeError", 3))).restart


def test_the_first_step_says_why_nothing_restarts_by_itself() -> None:
    root = a_finding("NetworkError", a_line(20))
    assert planned(root).steps == ("Look.",)
    before = planned(root, explained=explained("RuntimeError", 10)).steps
    assert before[0].startswith("No automatic restart: RuntimeError was printed before it (line 10")
    beside = planned(root, beside={"RuntimeError": "proof"}).steps
    assert beside[0].startswith("No automatic restart: RuntimeError (line 1) was found too")
    waited = planned(a_finding("NCCLTimeoutError", a_line(20))).steps
    assert waited[0].startswith("No automatic restart: a wait that ran out")
    assert not any("automatic" in step for step in planned(a_finding("RuntimeError")).steps)


@pytest.mark.parametrize(
    ("action", "strength", "steps_made", "restart"),
    [
        ("restart", "clue", 0, False),
        ("restart", "proof", 0, False),
        ("restart", "proof", 1, True),
        ("cordon_and_restart", "proof", 0, True),
    ],
)
def test_what_never_made_a_step_restarts_only_where_hardware_is_proved_to_be_broken(
    action: str, strength: Strength, steps_made: int, restart: bool
) -> None:
    root = a_finding("NativeCrash", strength=strength)
    book = a_rulebook([a_cause("NativeCrash", action=action)])
    primary = Primary("NativeCrash", "plant", None, strength, "medium", "f", "s", None)
    said = Verdict(primary, suspects=(Suspect("gpu-1"),))
    assert plan(said, root, book, Job(), Course(steps_made=steps_made)).restart is restart


@pytest.mark.parametrize(("steps_made", "action"), [(0, "fix_config"), (500, "wait_and_retry")])
def test_an_address_that_was_reached_for_a_while_is_set_rightly(
    steps_made: int, action: str
) -> None:
    book = a_rulebook(
        [a_cause("ConnectionError", action="wait_and_retry")],
        [a_signal("name_unknown", "ConnectionError", action="fix_config")],
    )
    root = a_finding("ConnectionError", signal="name_unknown")
    said = Verdict(Primary("ConnectionError", "plant", None, "proof", "high", "f", "s", None))
    assert plan(said, root, book, Job(), Course(steps_made=steps_made)).action == action
