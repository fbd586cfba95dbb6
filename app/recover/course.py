"""How the run went before it failed, as far as it bears on what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.located import Awaited, Suspect
from app.model import Detected, Finding, Verdict
from app.recover.advised import action_of
from app.rulebook.rulebook import Rulebook

HARDWARE = ("CUDAError", "ECCError", "NVLinkError", "NodeFailure", "NetworkError")


@dataclass(frozen=True, slots=True)
class Course:
    """What came before the end.

    `steps_made` is how far training came; `repeated_on` names hosts or GPUs that failed in earlier
    attempts too; `same_before` counts the attempts just before that ended by the same failure;
    `awaited` says what kept the rank that others waited for; `saved` names the last checkpoint;
    `alike` are all findings of the cause that is named; `killed` says that a process was killed
    from outside, and that nothing tells by whom.
    """

    steps_made: int = 0
    repeated_on: tuple[str, ...] = ()
    same_before: int = 0
    awaited: Awaited = ""
    saved: str = ""
    alike: tuple[Finding, ...] = ()
    killed: bool = False


def course(detected: Detected, verdict: Verdict, earlier: Sequence[Verdict]) -> Course:
    """Sum up the attempt that is judged and those before it."""
    return Course(
        steps_made=detected.steps,
        repeated_on=tuple(repeated(verdict, earlier)),
        same_before=_same_before(verdict, earlier),
        awaited=detected.awaited,
        saved=_saved(detected),
        alike=tuple(f for f in detected.findings if f.cause == verdict.primary.cause),
        killed=any(mark.is_kill for mark in detected.exits)
        or any(f.cause == "Unknown" for f in detected.findings),
    )


def repeated(verdict: Verdict, earlier: Sequence[Verdict]) -> list[str]:
    """Hosts and GPUs suspected now that were suspected for hardware in an earlier attempt."""
    before = {
        name
        for other in earlier
        if other.primary.cause in HARDWARE
        for suspect in other.suspects[:2]
        for name in _names(suspect)
    }
    now = [name for suspect in verdict.suspects[:2] for name in _names(suspect)]
    return [name for name in dict.fromkeys(now) if name in before]


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


def _names(suspect: Suspect) -> list[str]:
    """Name a host, or a GPU by its bus address; a bare index means nothing without its host."""
    if suspect.host:
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
