"""Put into words for a model what the rules found: causes, the end, exits, who stands out."""

from collections.abc import Iterable, Iterator, Mapping

from app.incident import Precedent
from app.located import Suspect
from app.model import (
    AttemptVerdict,
    Compressed,
    Detected,
    Diagnosis,
    ExplainedCause,
    Job,
    Line,
    Root,
    Verdict,
)
from app.rulebook.rulebook import OUTCOMES, Rulebook

_MOST = 12
_LONGEST = 300
_SENTENCES = 2
_LONGEST_WAIT = 7 * 86400  # what is more comes from a date of something else
_GRADES: Mapping[str, str] = {
    "trainer": "the trainer itself says that it is done",
    "wrapper": "a wrapper or script says that it is done",
    "hint": "it looks as if the run had come to its end",
}


def causes(rulebook: Rulebook, *, brief: bool = False) -> str:
    """List all causes that may be chosen, each with its meaning in a line; brief, by its title."""
    told = {
        cause.name: cause.title if brief else f"{cause.title}. {_start(cause.summary)}"
        for cause in rulebook.causes.values()
        if cause.status == "stable"
    } | OUTCOMES
    return "\n".join(f"{name}: {' '.join(meaning.split())}" for name, meaning in told.items())


def _start(summary: str) -> str:
    return ". ".join(summary.split(". ")[:_SENTENCES]).rstrip(".") + "."


def findings(found: Diagnosis, detected: Detected, log: Compressed) -> str:
    """Tell what the rules make of the log, and how far training came in it."""
    told = [
        *_causes(found.verdict),
        *_end(detected),
        *_course(detected, log),
        *_scheduler(found.job),
        *_exits(detected),
        *dict.fromkeys(map(_lead, [*found.verdict.suspects, *detected.leads][:_MOST])),
        *map(_attempt, found.attempts[-_MOST:]),
        *found.verdict.remarks[:_MOST],
    ]
    return "\n".join(told)


def precedents(recalled: Iterable[Precedent]) -> str:
    """Tell which past failures are alike."""
    told = [
        f"{one.cause} ({'confirmed by a person' if one.confirmed else 'not confirmed'}), "
        f"{one.similarity:.0%} alike"
        for one in recalled
    ]
    return "\n".join(told) or "none are known"


def _causes(verdict: Verdict) -> Iterator[str]:
    primary = verdict.primary
    if primary.strength:
        said = f"{primary.cause}, by a {primary.strength} ({primary.summary})"
        yield f"likeliest: {said}{_spot(verdict)}"
    elif primary.cause in OUTCOMES:
        yield f"verdict so far: {primary.cause}{_spot(verdict)}"
    else:
        yield f"verdict so far: {primary.cause}, by likeness to past failures alone"
    yield from map(_root, verdict.other_roots[:_MOST])
    yield from map(_explained, verdict.explained[:_MOST])


def _spot(verdict: Verdict) -> str:
    seen = verdict.primary.first_seen
    if seen is None:
        return ""
    where = [f"rank {seen.rank}" if seen.rank is not None else "", seen.host or ""]
    return f", first at {seen.file} line {seen.line} {' '.join(filter(None, where))}".rstrip()


def _root(root: Root) -> str:
    name = "a process that ended" if root.cause == "Unknown" else root.cause
    return (
        f"also there, and explained by nothing: {name}, by a {root.strength} "
        f"({root.signal}), {root.count} times, first at {root.file} line {root.first_line}"
    )


def _explained(item: ExplainedCause) -> str:
    return (
        f"taken for a consequence of {item.by}: {item.cause}, {item.count} times, "
        f"first at {item.file} line {item.first_line}"
    )


def _end(detected: Detected) -> Iterator[str]:
    ending = detected.ending
    if ending.finished and ending.line:
        yield f"{_GRADES[ending.finished]}: {_quoted(ending.line)}"
    else:
        yield "nobody says that the job is done"
    if ending.failed:
        yield f"a launcher says that it failed: {_quoted(ending.failed)}"


def _course(detected: Detected, log: Compressed) -> Iterator[str]:
    """Tell the last step, out of how many, and for how long the log goes on behind it."""
    last = next((p for p in reversed(log.points) if p.step and p.step == detected.steps), None)
    planned = f" of {last.total_steps}" if last and last.total_steps else ""
    yield f"last step of training, by its metrics: {detected.steps or 'none is seen'}{planned}"
    if last is None or last.time is None:
        return
    times = [line.time for line in log.lines if line.file == last.file and line.time is not None]
    behind = (times[-1] if times else last.time) - last.time
    if 1 <= behind <= _LONGEST_WAIT:
        yield f"seconds from that step to the last line that tells a time: {behind:.0f}"


def _quoted(line: Line) -> str:
    return f"line {line.number}: {line.raw[:_LONGEST]}"


def _scheduler(job: Job) -> Iterator[str]:
    known = {"state": job.state, "exit code": job.exit_code, "signal": job.signal}
    told = [f"{name} {value}" for name, value in known.items() if value is not None]
    if told:
        yield f"the scheduler reports: {', '.join(told)}"


def _exits(detected: Detected) -> Iterator[str]:
    for mark in detected.exits[:_MOST]:
        facts = ", ".join(f"{name} {value}" for name, value in mark.facts.items())
        yield f"a process ended ({facts or 'no more is told'}), line {mark.line.number}"


def _lead(suspect: Suspect) -> str:
    place = [
        f"{name} {value}"
        for name, value in (("host", suspect.host), ("rank", suspect.rank), ("GPU", suspect.gpu))
        if value is not None
    ]
    return f"stands out: {', '.join(place) or 'no place'} ({suspect.why})"


def _attempt(attempt: AttemptVerdict) -> str:
    first, last = attempt.lines
    return (
        f"attempt {attempt.number} ended before, lines {first} to {last} of {attempt.file}: "
        f"{attempt.cause}"
    )
