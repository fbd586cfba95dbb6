"""Whether a job may start again by itself, and when no node may be taken out for it.

The verdict may be wrong, and then its advice does harm: a job that starts again into its own bug
burns the same hours twice, a node that is taken out in vain is lost to everybody. So what is done
without a person asks for more than the verdict: nothing else in the log may speak against it.
"""

from app.model import Action, ExplainedCause, Finding, Root, Strength, Verdict
from app.recover.advised import action_of
from app.recover.course import Course
from app.rulebook.rulebook import Rulebook

RESTARTS: tuple[Action, ...] = (
    "restart",
    "cordon_and_restart",
    "rollback_and_skip",
    "wait_and_retry",
)
_WAITS = ("NCCLTimeoutError", "NCCLRemoteError")
_RAISED_BY_WAITS = ("RuntimeError",)
_BY_A_PERSON = {
    "NCCLTimeoutError": "No automatic restart: a wait that ran out is as often a bug of the program"
    " as a fault of a machine. Restart it once by hand, if nothing below tells which.",
    "DataloaderKilled": "No automatic restart: a loader that was killed is as often a leak as an"
    " accident. Restart it once by hand, and watch the memory of the host.",
}
_WEAK = "No automatic restart: the log gives only weak grounds for this cause."
_BY_SOMEBODY = (
    "No automatic restart: somebody cancelled the job while it still ran. Ask them, or restart it"
    " by hand."
)
_LONG_BEFORE = (
    "No automatic restart: this warning stood in the log long before the first failure, which may"
    " have come of something else."
)
_NEVER_RAN = (
    "No automatic restart: no step was ever made, so it may be set up wrongly and fail again."
)
_BESIDE = (
    "No automatic restart: {cause} (line {line}) was found too, is as sure, and would fail again."
)
_BEFORE = (
    "No automatic restart: {cause} was printed before it (line {line}), and a bug would fail again."
    " Rule that out first."
)
_AT_THE_SAME_STEP = (
    "No automatic restart: it failed in the same way before, after just as many steps ({count}), as"
    " a program or its data do far more often than a GPU. Look at the kernel and at the data of"
    " that step first."
)
_BY_WORDS_ALONE = (
    "No automatic restart: that the job was preempted is told in passing only, and an error of code"
    " was printed too. See what the scheduler says, then resubmit by hand."
)
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


def kept_from_restart(
    action: Action, verdict: Verdict, root: Finding, rulebook: Rulebook, course: Course
) -> str | None:
    """Say what speaks against an automatic restart, None where it is allowed.

    It is allowed only where nothing found would make the job fail again. A wait that ran out, with
    nothing to say what was waited for, is as often a bug (one rank evaluates while the others go
    on) as a fault of a machine, and a loader that was killed as often a leak: a person restarts
    that once. What never made a step, and shows no proof of broken hardware, is as often set up
    wrongly as broken. What somebody cancelled at work is theirs to start again. The answer is empty
    where the action is none that starts anything by itself.
    """
    if action not in RESTARTS and (action, root.cause) != ("resubmit", "Preempted"):
        return ""
    if action in RESTARTS and verdict.primary.confidence == "low":
        return _WEAK
    if course.was_cancelled:
        return _BY_SOMEBODY
    if root.strength != "proof" and _began_late(verdict, course):
        return _LONG_BEFORE
    if root.cause in _BY_A_PERSON:
        return _BY_A_PERSON[root.cause]
    by_hardware = action == "cordon_and_restart" and root.strength == "proof"
    if root.cause in _AS_OFTEN_SETTINGS and not (course.steps_made or by_hardware):
        return _NEVER_RAN
    if root.cause == "CUDAError" and course.same_step and action == "restart":
        return _AT_THE_SAME_STEP.format(count=course.steps_made)
    if (beside := bug_beside(verdict, root, rulebook)) is not None:
        return _BESIDE.format(cause=beside.cause, line=beside.first_line)
    if root.cause == "Preempted" and root.strength != "proof" and _hides_a_bug(verdict, rulebook):
        return _BY_WORDS_ALONE
    if action != "cordon_and_restart" and (before := _bug_before(verdict, rulebook)) is not None:
        return _BEFORE.format(cause=before.cause, line=before.first_line)
    return None


def ended_from_outside_too(root: Finding, verdict: Verdict) -> bool:
    """Say whether the job was also taken off, so that its last lines prove nothing of a node.

    Who loses its nodes sees links, peers and devices go away.
    """
    if root.cause in _FROM_OUTSIDE:
        return False
    beside = {other.cause for other in verdict.other_roots if other.strength != "echo"}
    accounted = {told.cause for told in verdict.explained}
    return not beside.isdisjoint(_FROM_OUTSIDE) or "Preempted" in accounted


def _began_late(verdict: Verdict, course: Course) -> bool:
    """Say whether all that the root is to account for began too long after it."""
    return course.began_late.issuperset(e.cause for e in verdict.explained) and bool(
        verdict.explained
    )


def bug_beside(verdict: Verdict, root: Finding, rulebook: Rulebook) -> Root | None:
    """Look for what must be mended, is as sure as the root, and nothing explains."""
    least = _STRENGTH[root.strength]
    for other in verdict.other_roots:
        if _STRENGTH[other.strength] >= least and action_of(other, rulebook).startswith("fix_"):
            return other
    return None


def _hides_a_bug(verdict: Verdict, rulebook: Rulebook) -> bool:
    """Say whether what the root is said to explain would by itself be a bug."""
    causes = (rulebook.causes.get(told.cause) for told in verdict.explained)
    return any(cause.recovery.action == "fix_code" for cause in causes if cause)


def _bug_before(verdict: Verdict, rulebook: Rulebook) -> ExplainedCause | None:
    """Look for an error of code that was printed before the root, which is said to explain it.

    A kernel log is often appended at the end, so this does not hold against hardware. Nor does it
    of what a wait ended in: a rank whose collective timed out raises in words of its own.
    """
    first = verdict.primary.first_seen
    if first is None:
        return None
    for told in verdict.explained:
        if (told.edge, told.file) != ("always", first.file) or told.first_line >= first.line:
            continue
        cause = rulebook.causes.get(told.cause)
        if cause is None or cause.recovery.action != "fix_code":
            continue
        if told.cause not in _RAISED_BY_WAITS or not _a_wait_ended_before(told, verdict):
            return told
    return None


def _a_wait_ended_before(told: ExplainedCause, verdict: Verdict) -> bool:
    return any(
        other.cause in _WAITS and other.file == told.file and other.first_line < told.first_line
        for other in verdict.explained
    )
