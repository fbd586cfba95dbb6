"""How the run went before it failed, and what that changes about the advice."""

from dataclasses import replace

import pytest

from app.located import Awaited, Located, Suspect
from app.model import Detected, Ending, ExplainedCause, Finding, Marked, Point, Primary, Verdict
from app.recover.course import Course, course
from app.recover.plan import plan
from tests.recover.test_plan import BOOK, Job, verdict
from tests.small_rules import a_finding, a_line


def ended(fingerprint: str) -> Verdict:
    return Verdict(Primary("CUDAError", "plant", None, None, "high", fingerprint, "s", None))


def test_the_attempts_just_before_that_ended_alike_are_counted() -> None:
    found = course(
        Detected((), Ending(), Located()), ended("a"), [ended("a"), ended("b"), ended("a")]
    )
    assert found.same_before == 1
    found = course(
        Detected((), Ending(), Located()), ended("a"), [ended("b"), ended("a"), ended("a")]
    )
    assert found.same_before == 2


def test_what_failed_alike_twice_before_is_not_started_again_by_itself() -> None:
    root = a_finding("CUDAError", strength="proof")
    assert plan(verdict("CUDAError"), root, BOOK, Job(), Course(9, same_before=1)).restart
    done = plan(verdict("CUDAError"), root, BOOK, Job(), Course(9, same_before=2))
    assert not done.restart
    assert done.steps[0].startswith("The 2 attempts before ended in the same way")


@pytest.mark.parametrize(
    ("steps", "only_host", "action", "again"),
    [
        (800, None, "cordon_and_restart", True),
        (1200, None, "restart", False),  # as far as before: it is the program
        (800, "gpu-1", "restart", True),  # where else could it fail
    ],
)
def test_a_kernel_that_broke_twice_on_a_host_is_no_ground_by_itself_to_take_it_out(
    steps: int, only_host: str | None, action: str, again: bool
) -> None:
    said = verdict("CUDAError", Suspect("gpu-1"))
    seen = Detected((), Ending(), Located(only_host=only_host), steps=steps)
    went = course(seen, said, [said], steps_before=[1200])
    done = plan(said, a_finding("CUDAError", a_line(3, host="gpu-1")), BOOK, Job(), went)
    assert (done.action, done.restart) == (action, again)


def test_one_gpu_of_a_single_host_that_failed_twice_is_known_by_its_address() -> None:
    said = verdict("CUDAError", Suspect("gpu-1", gpu="0000:3b:00"))
    seen = Detected((), Ending(), Located(only_host="gpu-1"), steps=800)
    assert course(seen, said, [said], steps_before=[1200]).repeated_on == ("GPU 0000:3b:00",)


def test_the_last_checkpoint_is_told_where_the_job_starts_again() -> None:
    saved = [
        Marked("saved", "saved", a_line(n), facts={"step": f"{n}00", "path": f"/ck/{n}00"})
        for n in (1, 2)
    ]
    went = course(Detected((), Ending(), Located(), saved=tuple(saved)), verdict("CUDAError"), [])
    assert went.saved == "step 200, /ck/200"
    told = "The last checkpoint that the log names: step 200, /ck/200."
    assert told in plan(verdict("CUDAError"), a_finding("CUDAError"), BOOK, Job(), went).steps
    assert told not in plan(verdict("KeyError"), a_finding("KeyError"), BOOK, Job(), went).steps


@pytest.mark.parametrize(
    ("kept", "action"),
    [
        ("another collective", "fix_code"),
        ("evaluation", "fix_code"),
        ("preparation", "fix_config"),
        ("", "restart"),
    ],
)
def test_a_rank_that_was_merely_elsewhere_is_not_mended_by_a_restart(
    kept: Awaited, action: str
) -> None:
    root = a_finding("NCCLTimeoutError", strength="proof")
    assert (
        plan(verdict("NCCLTimeoutError"), root, BOOK, Job(), Course(9, awaited=kept)).action
        == action
    )


@pytest.mark.parametrize(
    ("facts", "explained", "action"),
    [
        ({"gpu": "0000:3b:00"}, "NCCLTimeoutError", "cordon_and_restart"),
        ({"gpu": "0000:3b:00"}, "KeyError", "restart"),
        ({}, "NCCLTimeoutError", "restart"),
    ],
)
def test_a_warning_about_a_gpu_counts_where_what_it_leads_to_followed(
    facts: dict[str, str], explained: str, action: str
) -> None:
    root = a_finding("ECCError", a_line(3, host="gpu-1"), strength="clue", facts=facts)
    followed = (ExplainedCause(explained, "ECCError", "always", 1, 9, "log"),)
    said = verdict("ECCError", Suspect("gpu-1"))
    said = Verdict(said.primary, followed, suspects=said.suspects)
    done = plan(said, root, BOOK, Job(), Course(9))
    assert done.action == action
    assert done.targets == (("gpu-1",) if action == "cordon_and_restart" else ())
    in_passing = replace(root, sightings=(replace(root.sightings[0], doubt="rank: rank 3, info"),))
    assert plan(said, in_passing, BOOK, Job(), Course(9)).targets == ()


def test_numbers_that_broke_early_are_told_by_where_they_broke() -> None:
    early = a_finding("NonFiniteLoss", facts={"step": "3"})
    late = a_finding("NonFiniteLoss", facts={"step": "900"})
    assert plan(verdict("NonFiniteLoss"), early, BOOK, Job(), Course(950)).action == "fix_config"
    assert plan(verdict("NonFiniteLoss"), late, BOOK, Job(), Course(950)).action != "fix_config"


@pytest.mark.parametrize(
    ("exit_facts", "steps_made", "action"),
    [
        ({"code": "-9", "rank": "3"}, 400, "restart"),
        ({"code": "-9", "rank": "3"}, 2, "none"),
        ({"code": "1", "rank": "3"}, 400, "none"),
    ],
)
def test_a_job_killed_at_work_is_restarted_by_a_person_who_looked(
    exit_facts: dict[str, str], steps_made: int, action: str
) -> None:
    exits = (Marked("gone", "exit", a_line(9), facts=exit_facts),)
    detected = Detected((), Ending(), Located(), exits=exits, steps=steps_made)
    went = course(detected, verdict("Unknown"), [])
    done = plan(verdict("Unknown"), None, BOOK, Job(), went)
    assert (done.action, done.restart) == (action, False)
    assert any("dmesg" in step for step in done.steps)


def since(
    root: Finding, *others: Finding, steps_at: tuple[int, ...] = (), world: int = 0
) -> Course:
    primary = Primary(root.cause, "plant", root.signal, root.strength, "high", "f", "s", None)
    detected = Detected((root, *others), Ending(), Located(world=world))
    points = [Point(0, number, "step", step=number) for number in steps_at]
    return course(detected, Verdict(primary), [], points)


LOST = a_finding("NetworkError", a_line(10))
BY_HAND = a_finding("Cancelled", a_line(90))


def test_who_cancels_a_job_at_work_has_a_reason_of_their_own() -> None:
    assert since(LOST, BY_HAND, steps_at=(9, 11)).was_cancelled
    assert not since(LOST, BY_HAND, steps_at=(8, 9)).was_cancelled
    assert not since(LOST, a_finding("Cancelled", strength="clue"), steps_at=(11,)).was_cancelled
    assert not since(BY_HAND, steps_at=(91,)).was_cancelled
    assert since(a_finding("NetworkError", strength="clue"), BY_HAND).was_cancelled
    assert since(a_finding("Stalled"), BY_HAND).was_cancelled
    assert since(a_finding("NonFiniteLoss"), a_finding("Cancelled", strength="clue")).was_cancelled
    assert not since(a_finding("LossSpike"), a_finding("Cancelled", strength="echo")).was_cancelled


def test_what_one_rank_meets_is_told_from_what_most_meet() -> None:
    ranks = [a_line(n, rank=n) for n in range(3)]
    assert since(a_finding("CUDAError", *ranks), world=4).met_by_most
    assert not since(a_finding("CUDAError", *ranks), world=8).met_by_most
    assert not since(a_finding("CUDAError", ranks[0])).met_by_most


def at(seconds: float, cause: str = "NCCLTimeoutError") -> Finding:
    finding = a_finding(cause, a_line(20, time=seconds))
    return replace(finding, onset=seconds)


def test_what_begins_long_after_a_warning_did_not_come_of_it() -> None:
    warning = at(1000, "NVLinkError")
    assert since(warning, at(1600)).began_late == frozenset()
    assert since(warning, at(4000)).began_late == {"NCCLTimeoutError"}
    assert since(warning, at(1600), at(4000)).began_late == frozenset()
    assert since(LOST, at(4000)).began_late == frozenset()  # nobody knows when it was lost


def test_a_warning_of_long_before_takes_out_no_node_and_starts_nothing() -> None:
    root = a_finding("ECCError", a_line(3, host="gpu-1"), strength="clue", facts={"gpu": "3b000"})
    followed = (ExplainedCause("NCCLTimeoutError", "ECCError", "always", 1, 9, "log"),)
    said = Verdict(verdict("ECCError").primary, followed, suspects=(Suspect("gpu-1"),))
    done = plan(said, root, BOOK, Job(), Course(9, began_late=frozenset({"NCCLTimeoutError"})))
    assert (done.action, done.restart, done.targets) == ("restart", False, ())
