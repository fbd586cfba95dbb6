"""The diagnosis by rules and memory as one readable function, without side effects.

read ──► compress ──► detect ──► judge ──► recall ──► recover
bytes    lines        findings   verdict   precedents plan

What a model makes of a doubt that is left, `consult` tells.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Protocol

from app.compress.digest import digest
from app.detect.detect import Sighted, detect, look
from app.errors import SourceError
from app.incident import Recalled, Snippet
from app.judge.carried import Judged, judge_after
from app.judge.remembered import remembered
from app.model import (
    AttemptVerdict,
    Compressed,
    Detected,
    Diagnosis,
    Finding,
    Job,
    Line,
    LogStats,
    Verdict,
)
from app.read.source import Source, sources
from app.reading import compressed_from
from app.recover.course import Course, course
from app.recover.plan import plan
from app.recover.precedent import by_precedent
from app.rulebook.compiled import Compiled


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a diagnosis: text bytes read, tokens of the digest (0: none), scanning threads."""

    max_bytes: int = 64 << 30
    digest_tokens: int = 6000
    threads: int = 1


Progress = Callable[[int], None]


class Watch:
    """Adds up the seconds of each stage, from the moment when it is made."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Count the time since the last lap to a stage."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


class Memory(Protocol):
    """What knows past incidents; it never raises, the note says what it could not do."""

    def nearest(self, snippet: Snippet) -> Recalled:
        """Find the incidents that are most like this one."""


@dataclass(frozen=True, slots=True)
class Case:
    """A diagnosis by rules and memory, with what a second look at the same log needs.

    `seconds` are those of its stages: read, detect, judge, recall, recover.
    """

    diagnosis: Diagnosis
    sighted: Sighted
    detected: Detected
    root: Finding | None
    course: Course
    compiled: Compiled
    sources: tuple[Source, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def digest(self, budget_tokens: int) -> str:
        """Write the digest anew within another budget."""
        log, attempts = self.sighted.log, self.sighted.attempts
        return digest(log, _faults(self.detected, self.root), attempts, budget_tokens)


def diagnose(
    inputs: Sequence[Path | BinaryIO],
    compiled: Compiled,
    *,
    job: Job | None = None,
    memory: Memory | None = None,
    limits: Limits = Limits(),  # noqa: B008  # a frozen value
    progress: Progress | None = None,
) -> Diagnosis:
    """Find out what ended the job that wrote these logs, by rules and memory.

    `progress` is told the bytes of text read so far. Raises SourceError for what cannot be read.
    """
    return examine(
        inputs, compiled, job=job, memory=memory, limits=limits, progress=progress
    ).diagnosis


def examine(
    inputs: Sequence[Path | BinaryIO],
    compiled: Compiled,
    *,
    job: Job | None = None,
    memory: Memory | None = None,
    limits: Limits = Limits(),  # noqa: B008  # a frozen value
    progress: Progress | None = None,
) -> Case:
    """Diagnose, and keep what led there."""
    watch = Watch()
    files = sources(inputs)
    log = _read(files, compiled, limits, progress)
    watch.lap("read")
    if not log.total_lines and not (job and _is_told_of(job)):
        raise SourceError(f"{files[0].name}: the log is empty")
    case = judged(log, compiled, job=job, memory=memory, limits=limits, watch=watch)
    return replace(case, sources=files)


def judged(
    log: Compressed,
    compiled: Compiled,
    *,
    job: Job | None = None,
    memory: Memory | None = None,
    limits: Limits = Limits(),  # noqa: B008  # a frozen value
    watch: Watch | None = None,
) -> Case:
    """Judge a log that was compressed before; the second half of a diagnosis.

    `watch` was started when the first half began.
    """
    watch = watch or Watch()
    job = job or Job()
    sighted = look(log, compiled)
    *earlier, (detected, verdict, root) = _verdicts(sighted, compiled, job, watch)
    told = _told(sighted, [verdict for _, verdict, _ in earlier])
    rulebook = compiled.rulebook
    snippet, recalled = _recalled(sighted, detected, verdict, memory)
    watch.lap("recall")
    found = remembered(verdict, recalled, rulebook)
    ended, made = [before for _, before, _ in earlier], [seen.steps for seen, _, _ in earlier]
    went = course(detected, verdict, ended, log.points, made)
    advice = by_precedent(found, rulebook) if found else plan(verdict, root, rulebook, job, went)
    faults, tokens = _faults(detected, root), limits.digest_tokens
    shown = digest(sighted.log, faults, sighted.attempts, tokens) if tokens else ""
    watch.lap("recover")
    diagnosis = Diagnosis(
        verdict=found or verdict,
        plan=advice,
        attempts=told,
        log=_stats(log, sum(watch.seconds.values())),
        job=job,
        digest=shown,
        rules=rulebook.fingerprint,
        method="memory" if found else "rules",
        recalled=recalled,
        snippet=snippet,
    )
    return Case(diagnosis, sighted, detected, root, went, compiled, seconds=watch.seconds)


def compressed(
    inputs: Sequence[Path | BinaryIO],
    compiled: Compiled,
    limits: Limits,
    progress: Progress | None = None,
) -> Compressed:
    """Read and compress; the first half of a diagnosis."""
    files = sources(inputs)
    log = _read(files, compiled, limits, progress)
    if not log.total_lines:
        raise SourceError(f"{files[0].name}: the log is empty")
    return log


def _read(
    files: Sequence[Source], compiled: Compiled, limits: Limits, progress: Progress | None
) -> Compressed:
    most, threads = limits.max_bytes, limits.threads
    return compressed_from(files, compiled, max_bytes=most, threads=threads, progress=progress)


def _is_told_of(job: Job) -> bool:
    """Say whether the scheduler told how the job ended, which may be all that is known of it."""
    return any(told is not None for told in (job.state, job.exit_code, job.signal))


def _verdicts(sighted: Sighted, compiled: Compiled, job: Job, watch: Watch) -> list[Judged]:
    """Judge each attempt; what the caller knows of the job is about the last one."""
    judged: list[Judged] = []
    for attempt in sighted.attempts:
        about = job if attempt is sighted.attempts[-1] else Job()
        detected = detect(sighted, attempt, compiled, about)
        watch.lap("detect")
        before = judged[-1] if judged else None
        judged.append(judge_after(before, detected, compiled.rulebook, sighted.log.files, about))
        watch.lap("judge")
    return judged


def _recalled(
    sighted: Sighted, detected: Detected, verdict: Verdict, memory: Memory | None
) -> tuple[Snippet, Recalled]:
    """Take the lines that show the failure, and ask memory for others like it."""
    if memory is None:
        return Snippet(), Recalled()
    from app.memory.snippet import snippet  # most diagnoses on the command line need none

    attempt = sighted.attempts[-1]
    echoes = {
        (s.line.file, s.line.number)
        for f in detected.findings
        if f.strength == "echo"
        for s in f.sightings
    }
    own = [line for line in sighted.log.lines if attempt.holds(line.file, line.number)]
    told = snippet(verdict, own, but=echoes)
    return told, Recalled() if verdict.primary.cause == "Completed" else memory.nearest(told)


def _told(sighted: Sighted, earlier: Sequence[Verdict]) -> tuple[AttemptVerdict, ...]:
    told = []
    for attempt, verdict in zip(sighted.attempts, earlier, strict=False):
        file = min(attempt.spans, default=0)
        told.append(
            AttemptVerdict(
                number=attempt.number,
                file=sighted.log.files[file].name,
                lines=attempt.spans.get(file, (0, 0)),
                cause=verdict.primary.cause,
            )
        )
    return tuple(told)


def _faults(detected: Detected, root: Finding | None) -> list[tuple[Line, str]]:
    """Lines for the digest: the root first, then one line of each other finding."""
    first = [(s.line, f"{root.cause}: {root.summary}") for s in root.sightings[:3]] if root else []
    others = [
        (f.first, f"{f.cause}: {f.summary} ({f.count} times)")
        for f in detected.findings
        if f is not root
    ]
    return [*first, *others, *((s.line, "context") for s in detected.context[:5])]


def _stats(log: Compressed, seconds: float) -> LogStats:
    size = sum(file.bytes for file in log.files)
    kept = sum(file.kept_lines for file in log.files)
    return LogStats(
        bytes=size,
        lines=log.total_lines,
        kept_lines=kept,
        templates=len(log.templates),
        ratio=round(kept / max(1, log.total_lines), 6),
        seconds=round(seconds, 3),
        files=log.files,
    )
