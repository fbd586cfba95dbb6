"""Whether a job may start again by itself, and when no node may be taken out for it.

The verdict may be wrong, and then its advice does harm: a job that starts again into its own bug
burns the same hours twice, a node that is taken out in vain is lost to everybody. So what is done
without a person asks for more than the verdict: nothing else in the log may speak against it.
"""

from app.model import Action, Finding, Strength, Verdict
from app.recover.advised import action_of
from app.recover.course import Course
from app.rulebook.rulebook import Rulebook

RESTARTS: tuple[Action, ...] = (
    "restart",
    "cordon_and_restart",
    "rollback_and_skip",
    "wait_and_retry",
)
_BY_A_PERSON = ("NCCLTimeoutError", "DataloaderKilled")
_FROM_OUTSIDE = ("Preempted", "Cancelled", "TimeLimitExceeded")
_AS_OFTEN_SETTINGS = (
    "ConnectionError",
    "CUDAError",
    "NativeCrash",
    "NCCLRemoteError",
    "NetworkError",
    "StorageError",
)
_STRENGTH: dict[Strength, int] = {"proof": 3, "clue": 2, "echo": 1, "context": 0}


def may_restart(
    action: Action, verdict: Verdict, root: Finding, rulebook: Rulebook, course: Course
) -> bool:
    """Allow an automatic restart only where nothing found would make it fail again.

    A wait that ran out, with nothing to say what was waited for, is as often a bug (one rank
    evaluates while the others go on) as a fault of a machine, and a loader that was killed as often
    a leak: a person restarts that once. What never made a step and shows no proof of a fault is as
    often set up wrongly as broken.
    """
    if action == "resubmit":
        allowed = root.cause == "Preempted"
    else:
        allowed = action in RESTARTS and verdict.primary.confidence != "low"
    if not allowed or root.cause in _BY_A_PERSON:
        return False
    if root.cause in _AS_OFTEN_SETTINGS and root.strength != "proof" and not course.steps_made:
        return False
    if _bug_beside(verdict, root, rulebook):
        return False
    return action == "cordon_and_restart" or not _bug_before(verdict, rulebook)


def ended_from_outside_too(root: Finding, verdict: Verdict) -> bool:
    """Say whether the job was also taken off, so that its last lines prove nothing of a node.

    Who loses its nodes sees links, peers and devices go away.
    """
    if root.cause in _FROM_OUTSIDE:
        return False
    beside = {other.cause for other in verdict.other_roots if other.strength != "echo"}
    accounted = {told.cause for told in verdict.explained}
    return not beside.isdisjoint(_FROM_OUTSIDE) or "Preempted" in accounted


def _bug_beside(verdict: Verdict, root: Finding, rulebook: Rulebook) -> bool:
    """Look for what must be mended, is as sure as the root, and nothing explains."""
    least = _STRENGTH[root.strength]
    return any(
        _STRENGTH[other.strength] >= least and action_of(other, rulebook).startswith("fix_")
        for other in verdict.other_roots
    )


def _bug_before(verdict: Verdict, rulebook: Rulebook) -> bool:
    """Look for an error of code that was printed before the root, which is said to explain it.

    A kernel log is often appended at the end, so this does not hold against hardware.
    """
    first = verdict.primary.first_seen
    return first is not None and any(
        told.edge == "always"
        and (told.file, told.cause in rulebook.causes) == (first.file, True)
        and told.first_line < first.line
        and rulebook.causes[told.cause].recovery.action == "fix_code"
        for told in verdict.explained
    )
