"""The values that travel between the stages, from a line of a log to a verdict with its plan.

All are frozen and do nothing but read themselves. Places count lines from 1, times are seconds
since the epoch (UTC where the log names no zone), sizes are bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.incident import Recalled, Snippet
from app.located import Awaited, Located, Suspect
from app.opinion import Asked, Opinion

Strength = Literal["proof", "clue", "echo", "context"]
Confidence = Literal["high", "medium", "low"]
Action = Literal[
    "restart",
    "cordon_and_restart",
    "fix_code",
    "fix_config",
    "fix_data",
    "rollback_and_skip",
    "wait_and_retry",
    "resubmit",
    "none",
]
EndGrade = Literal["trainer", "wrapper", "hint", "sign", "stage"]
OUTLIVED = "more steps stand behind it"  # the doubt of a proof that training may have survived

_BY_SIGKILL = ("9", "SIGKILL", "Killed", "killed", "-9", "137")


@dataclass(frozen=True, slots=True)
class Prefix:
    """What stands before the message of a line: who printed it, and when.

    `end` is the offset of the message. `stream` tells printers apart whose lines interleave, for
    instance `rank 3` or `TaskRunner pid=41877`; empty where the line names nobody.
    """

    end: int = 0
    rank: int | None = None
    host: str | None = None
    time: float | None = None
    stream: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line that compression kept.

    `raw` is the line as printed without colours, redrawn bar states and line end; `text` is what
    follows the prefix. Both are cut at `MAX_TEXT` characters round the place that was matched.
    `met` holds the ids of the patterns that the scan found here: candidates, not yet proven. A line
    without a `time` was printed no later than `until`, where that is known.
    """

    file: int
    number: int
    raw: str
    text: str
    rank: int | None = None
    host: str | None = None
    time: float | None = None
    stream: str = ""
    met: tuple[int, ...] = ()
    until: float | None = None


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file of the job's log, as it was read."""

    name: str
    bytes: int
    lines: int
    kept_lines: int


@dataclass(frozen=True, slots=True)
class Template:
    """Lines that are alike but for numbers, ids, ranks; places are (file, line)."""

    text: str
    count: int
    first: tuple[int, int]
    last: tuple[int, int]
    example: str
    ranks: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """One reading of training progress from a metric line.

    A value that the line does not give is None; NaN and infinities are kept as they were printed.
    `series` names the line's shape, so that readings of different kinds are never compared.
    `step_seconds` is the duration of one step; `total_steps` what the line says the run will reach.
    `text` is the start of the line behind its prefix. `counts` says what the step is known to
    count: steps of an epoch that others follow, of one that may be the last, whole epochs, or the
    steps of all epochs.
    """

    file: int
    number: int
    series: str
    time: float | None = None
    rank: int | None = None
    step: int | None = None
    total_steps: int | None = None
    loss: float | None = None
    grad_norm: float | None = None
    loss_scale: float | None = None
    step_seconds: float | None = None
    text: str = ""
    counts: Literal["", "epoch", "some epoch", "epochs", "all"] = ""

    @property
    def evaluates(self) -> bool:
        """Whether it was read in an evaluation, and says nothing of how far training came."""
        return self.series.startswith("eval")


@dataclass(frozen=True, slots=True)
class Compressed:
    """A log brought down to what may matter, in bounded memory.

    `lines` stand in reading order: by file, then by line. `removed` says how many lines each filter
    took away (estimated from a sample on large logs).
    """

    files: tuple[LogFile, ...]
    lines: tuple[Line, ...]
    templates: tuple[Template, ...]
    points: tuple[Point, ...]
    removed: Mapping[str, int] = field(default_factory=dict)

    @property
    def total_lines(self) -> int:
        """Lines in all files, kept or not."""
        return sum(file.lines for file in self.files)


@dataclass(frozen=True, slots=True)
class Sighting:
    """One signal met at one place; `facts` are what its pattern captured there.

    `strength` is the signal's, or less where the place speaks against it: an exception that was
    caught and logged is a clue at most. `doubt` says what words weakened it; it `stands` unless
    they leave nothing of it. What is `survivable` ends a process only if nobody catches it, and
    nothing shows that nobody did.
    """

    signal: str
    line: Line
    strength: Strength
    facts: Mapping[str, str] = field(default_factory=dict)
    doubt: str = ""
    stands: bool = True
    survivable: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One signal of one cause, present in the attempt that is judged.

    `sightings` holds the first ones, at most 256, in order of time; `count` is exact. `onset` is
    when the trouble began: the first sighting's time less the wait that a timeout names. A
    `general` one rests on words that any program may print.
    """

    cause: str
    signal: str
    strength: Strength
    sightings: tuple[Sighting, ...]
    count: int
    onset: float | None = None
    summary: str = ""
    general: bool = False

    @property
    def first(self) -> Line:
        """The line where it shows first."""
        return self.sightings[0].line


@dataclass(frozen=True, slots=True)
class Marked:
    """One mark met at one place."""

    mark: str
    kind: str
    line: Line
    grade: EndGrade | None = None
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_kill(self) -> bool:
        """Whether it tells of a process that ended by SIGKILL."""
        return not {self.facts.get("code"), self.facts.get("signal")}.isdisjoint(_BY_SIGKILL)


@dataclass(frozen=True, slots=True)
class Ending:
    """How the attempt ended, as far as the log tells.

    `finished` is the best grade of a standing end mark, None without one; `line` is that mark,
    `too` the last one before it of the same grade that says it in other words. `failed` is a
    launcher's word that the job did not end well, `onward` what was under way behind a trainer's.
    """

    finished: EndGrade | None = None
    line: Line | None = None
    failed: Line | None = None
    too: Line | None = None
    onward: Line | None = None


@dataclass(frozen=True, slots=True)
class Detected:
    """What one attempt shows, before it is judged.

    `survived` is what training went on after; it is no finding. `steps` is how far training came:
    the number of its last step. `leads` are places that stand out among those that wait or
    complain, likeliest first; `awaited` says what kept the rank that the others waited for.
    """

    findings: tuple[Finding, ...]
    ending: Ending
    located: Located
    context: tuple[Sighting, ...] = ()
    survived: tuple[Sighting, ...] = ()
    exits: tuple[Marked, ...] = ()
    saved: tuple[Marked, ...] = ()
    steps: int = 0
    remarks: tuple[str, ...] = ()
    leads: tuple[Suspect, ...] = ()
    awaited: Awaited = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One start of the job within its log.

    `spans` gives, per file index, the first and last line (inclusive) that belong to it.
    """

    number: int
    spans: Mapping[int, tuple[int, int]]

    def holds(self, file: int, number: int) -> bool:
        """Say whether a place belongs to this attempt."""
        first, last = self.spans.get(file, (1, 0))
        return first <= number <= last


@dataclass(frozen=True, slots=True)
class Job:
    """What the caller knows of the job; every field may be missing."""

    job_id: str | None = None
    attempt: int | None = None
    job_type: str | None = None
    scheduler: str | None = None
    cluster: str | None = None
    name: str | None = None
    user: str | None = None
    state: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    nodes: tuple[str, ...] = ()
    gpus: int | None = None
    started_at: float | None = None
    ended_at: float | None = None
    checkpoint_dir: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A place in the log, as the answer names it."""

    file: str
    line: int
    time: str | None = None
    rank: int | None = None
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line of the original log that supports the verdict."""

    file: str
    line: int
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Primary:
    """The cause to be fixed."""

    cause: str
    domain: str
    signal: str | None
    strength: Strength | None
    confidence: Confidence
    fingerprint: str
    summary: str
    first_seen: Seen | None


@dataclass(frozen=True, slots=True)
class ExplainedCause:
    """A cause that is present, and the one that accounts for it."""

    cause: str
    by: str
    edge: str
    count: int
    first_line: int
    file: str


@dataclass(frozen=True, slots=True)
class Root:
    """Another present cause that nothing explains."""

    cause: str
    signal: str
    strength: Strength
    count: int
    file: str
    first_line: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do; commands are shown and never run."""

    action: Action
    restart: bool
    targets: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AttemptVerdict:
    """An earlier start of the job, in short; `lines` are those of its first file."""

    number: int
    file: str
    lines: tuple[int, int]
    cause: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What we say of the judged attempt."""

    primary: Primary
    explained: tuple[ExplainedCause, ...] = ()
    other_roots: tuple[Root, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogStats:
    """How much was read, and how much of it was left."""

    bytes: int
    lines: int
    kept_lines: int
    templates: int
    ratio: float
    seconds: float
    files: tuple[LogFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The whole answer about one log, before it has an id."""

    verdict: Verdict
    plan: Plan
    attempts: tuple[AttemptVerdict, ...]
    log: LogStats
    job: Job
    digest: str
    rules: str
    method: Literal["rules", "memory", "rules+model", "model"] = "rules"
    recalled: Recalled = Recalled()
    snippet: Snippet = Snippet()
    opinion: Opinion | None = None
    asked: Asked | None = None
