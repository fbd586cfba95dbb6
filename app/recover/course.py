"""How the run went before it failed, as far as it bears on what to do about it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.located import Awaited, Suspect
from app.model import Detected, Finding, Line, Point, Verdict
from app.recover.advised import action_of
from app.rulebook.cause import KNOW_NOT_WHY
from app.rulebook.rulebook import Rulebook

_ENDS_NO_JOB = ("LossSpike", "NonFiniteLoss")
HARDWARE = ("CUDAError", "ECCError", "NVLinkError", "NodeFailure", "NetworkError")
_SOON_SECONDS = 900.0  # from a warning to the first of what it leads to, a wait not counted


@dataclass(frozen=True, slots=True)
class Course:
    """What came before the end.

    `steps_made` is how far training came; `repeated_on` names hosts or GPUs that failed in earlier
    attempts too; `same_before` counts the attempts just before that ended by the same failure;
    `awaited` says what kept the rank that others waited for; `saved` names the last checkpoint;
    `alike` are all findings of the cause that is named; `killed` says that a process was killed
    from outside, and that nothing tells by whom. `was_cancelled` says that somebody ended the job
    while it still made steps, or while no more than a warning spoke of a fault; `met_by_most` that
    most ranks printed the root themselves; `began_late` are causes that began long after it.
    """

    steps_made: int = 0
    repeated_on: tuple[str, ...] = ()
    same_step: bool = False
    same_before: int = 0
    awaited: Awaited = ""
    saved: str = ""
    alike: tuple[Finding, ...] = ()
    killed: bool = False
    was_cancelled: bool = False
    met_by_most: bool = False
    began_late: frozenset[str] = frozenset()


def course(
    detected: Detected,
    verdict: Verdict,
    earlier: Sequence[Verdict],
    points: Iterable[Point] = (),
    steps_before: Sequence[int] = (),
) -> Course:
    """Sum up the attempt that is judged and those before it; `points` are those of the log.

    `steps_before` says how far each of the earlier attempts came.
    """
    signal = verdict.primary.signal
    root = next((f for f in detected.findings if f.signal == signal), None)
    return Course(
        steps_made=detected.steps,
        repeated_on=tuple(repeated(verdict, earlier, detected.located.only_host)),
        same_step=_at_the_same_step(verdict, detected.steps, earlier, steps_before),
        same_before=_same_before(verdict, earlier),
        awaited=detected.awaited,
        saved=_saved(detected),
        alike=tuple(f for f in detected.findings if f.cause == verdict.primary.cause),
        killed=any(mark.is_kill for mark in detected.exits)
        or any(f.cause == "Unknown" and f.strength != "echo" for f in detected.findings),
        was_cancelled=root is not None and _was_cancelled(root, detected, points),
        met_by_most=root is not None and _is_met_by_most(root, detected),
        began_late=_began_late(root, detected) if root else frozenset(),
    )


def _was_cancelled(root: Finding, detected: Detected, points: Iterable[Point]) -> bool:
    """Say whether somebody ended a job that the root had not ended, or that merely waited.

    A job goes on with a loss gone wrong until somebody stops it, be it by Ctrl-C.
    """
    told = ("proof", "clue") if root.cause in _ENDS_NO_JOB else ("proof",)
    ended = [f for f in detected.findings if f.cause == "Cancelled" and f.strength in told]
    if not ended or root.cause == "Cancelled":
        return False
    if root.strength != "proof" or root.cause in (*KNOW_NOT_WHY, *_ENDS_NO_JOB):
        return True
    return any(_is_after(p, root.sightings[-1].line) for p in points)


def _is_after(point: Point, line: Line) -> bool:
    if point.file == line.file:
        return point.number > line.number
    return point.time is not None and line.time is not None and point.time > line.time


def _is_met_by_most(root: Finding, detected: Detected) -> bool:
    ranks = {s.line.rank for s in root.sightings if s.line.rank is not None}
    return len(ranks) >= max(2, detected.located.world // 2 + 1)


def _began_late(root: Finding, detected: Detected) -> frozenset[str]:
    """Name the causes of which all that is known began long after the last word of the root."""
    last = root.sightings[-1].line.time
    onsets: dict[str, list[float | None]] = {}
    for finding in detected.findings:
        onsets.setdefault(finding.cause, []).append(finding.onset)
    return frozenset(
        cause
        for cause, began in onsets.items()
        if last is not None
        and all(onset is not None and onset > last + _SOON_SECONDS for onset in began)
    )


def repeated(
    verdict: Verdict, earlier: Sequence[Verdict], only_host: str | None = None
) -> list[str]:
    """Hosts and GPUs suspected now that were suspected for hardware in an earlier attempt.

    All that fails in a job of a single host fails there: a kernel that broke twice says nothing of
    the host, but it may of one GPU among several.
    """
    mute = only_host if verdict.primary.cause == "CUDAError" else None
    before = {
        name
        for other in earlier
        if other.primary.cause in HARDWARE
        for suspect in other.suspects[:2]
        for name in _names(suspect, mute)
    }
    now = [name for suspect in verdict.suspects[:2] for name in _names(suspect, mute)]
    return [name for name in dict.fromkeys(now) if name in before]


def _at_the_same_step(
    verdict: Verdict, steps: int, earlier: Sequence[Verdict], steps_before: Sequence[int]
) -> bool:
    """Say whether this failure had come before, and after just as many steps."""
    return steps > 0 and any(
        made == steps and before.primary.fingerprint == verdict.primary.fingerprint
        for before, made in zip(earlier, steps_before, strict=False)
    )


def accused_by_drivers(alike: Sequence[Finding], verdict: Verdict, rulebook: Rulebook) -> list[str]:
    """Hosts that the verdict suspects and whose own hardware is said to have failed alike."""
    told = {
        sighting.line.host
        for finding in alike
        if action_of(finding, rulebook) == "cordon_and_restart" and finding.strength != "echo"
        for sighting in finding.sightings
    }
    hosts = (suspect.host for suspect in verdict.suspects[:2])
    return [host for host in hosts if host is not None and host in told]


def _names(suspect: Suspect, mute: str | None) -> list[str]:
    """Name a host, or a GPU by its bus address; a bare index means nothing without its host."""
    if suspect.host and suspect.host != mute:
        return [suspect.host]
    return [f"GPU {suspect.gpu}"] if suspect.gpu and ":" in suspect.gpu else []


def _same_before(verdict: Verdict, earlier: Sequence[Verdict]) -> int:
    count = 0
    for before in reversed(earlier):
        if before.primary.fingerprint != verdict.primary.fingerprint:
            break
        count += 1
    return count


def _saved(detected: Detected) -> str:
    facts = detected.saved[-1].facts if detected.saved else {}
    step = f"step {facts['step']}" if facts.get("step") else ""
    return ", ".join(part for part in (step, facts.get("path", "")) if part)
