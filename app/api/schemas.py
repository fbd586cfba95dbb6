"""The forms of the answers of the HTTP API.

Answers are stored as JSON and sent as they are, not validated again. Their forms stand here for
the OpenAPI document; a test holds answers to them.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from app.api.forms import Id
from app.model import Action, Confidence, Strength
from app.opinion import Weight


class JobOut(BaseModel):
    """The job, as far as the caller has told."""

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


class Place(BaseModel):
    """A place in the original log."""

    file: str
    line: int
    time: str | None = None
    rank: int | None = None
    host: str | None = None


class PrimaryOut(BaseModel):
    """The cause to be fixed."""

    cause: str
    domain: str
    signal: str | None = None
    strength: Strength | None = None
    confidence: Confidence
    fingerprint: str
    summary: str
    first_seen: Place | None = None


class ExplainedOut(BaseModel):
    """A cause that is present, and the one that accounts for it."""

    cause: str
    by: str
    edge: str
    count: int
    first_line: int
    file: str


class RootOut(BaseModel):
    """Another present cause that nothing explains."""

    cause: str
    signal: str
    strength: Strength
    count: int
    file: str
    first_line: int


class EvidenceOut(BaseModel):
    """A line of the log that supports the verdict."""

    file: str
    line: int
    text: str
    why: str


class SuspectOut(BaseModel):
    """Where the fault may sit."""

    host: str | None = None
    rank: int | None = None
    gpu: str | None = None
    nic: str | None = None
    why: str


class RecoveryOut(BaseModel):
    """What to do; `restart` says whether an automatic restart is right."""

    action: Action
    restart: bool
    targets: tuple[str, ...]
    steps: tuple[str, ...]
    commands: tuple[str, ...]


class PrecedentOut(BaseModel):
    """A past incident that resembles this one."""

    id: str
    cause: str
    similarity: Annotated[float, Field(ge=0, le=1)]
    confirmed: bool


class AttemptOut(BaseModel):
    """An earlier start of the job within the same log."""

    number: int
    file: str
    lines: tuple[int, int]
    cause: str


class LogFileOut(BaseModel):
    """One file of the log."""

    name: str
    bytes: int
    lines: int
    kept_lines: int


class LogOut(BaseModel):
    """How much was read and how much of it was left."""

    bytes: int
    lines: int
    kept_lines: int
    templates: int
    ratio: float
    seconds: float
    files: tuple[LogFileOut, ...]


class VersionsOut(BaseModel):
    """By what the verdict was made."""

    firstfault: str
    rules: str
    prompts: str | None
    model: str | None


class QuotedOut(BaseModel):
    """A line of the log that the model quotes, as it was printed."""

    file: str
    line: int
    text: str


class StruckOut(BaseModel):
    """A quote that does not count, as the model gave it, and why."""

    file: str | None
    line: int
    text: str
    why: str


class OpinionOut(BaseModel):
    """What a language model says; `weight` tells what it changed."""

    cause: str
    confidence: str
    quotes: tuple[QuotedOut, ...]
    against: str
    struck: tuple[StruckOut, ...]
    agrees: bool
    weight: Weight


class Complete(BaseModel):
    """A diagnosis with its answer; one that is `refining` may be followed by a better one."""

    id: Id
    status: Literal["complete", "refining"]
    method: Literal["rules", "memory", "rules+model", "model"]
    job: JobOut
    primary: PrimaryOut
    explained: tuple[ExplainedOut, ...]
    other_roots: tuple[RootOut, ...]
    evidence: tuple[EvidenceOut, ...]
    suspects: tuple[SuspectOut, ...]
    recovery: RecoveryOut
    precedents: tuple[PrecedentOut, ...]
    attempts: tuple[AttemptOut, ...]
    opinion: OpinionOut | None
    remarks: tuple[str, ...]
    log: LogOut
    versions: VersionsOut


class Pending(BaseModel):
    """A diagnosis that is still to come; `progress` is the share of the log that is read.

    One that is `waiting` waits until its log is no longer written.
    """

    id: Id
    status: Literal["waiting", "queued", "running"]
    progress: Annotated[float, Field(ge=0, le=1)]
    created_at: datetime
    job: JobOut


class FaultOut(BaseModel):
    """Why there is no answer."""

    kind: str
    status: int
    detail: str


class Failed(BaseModel):
    """A diagnosis that could not be made."""

    id: Id
    status: Literal["failed"]
    created_at: datetime
    job: JobOut
    error: FaultOut


Ended = Annotated[Complete | Failed, Field(discriminator="status")]
Diagnosis = Annotated[Complete | Pending | Failed, Field(discriminator="status")]


class EntryOut(BaseModel):
    """A diagnosis in a list; what is not known yet is null."""

    id: Id
    status: Literal["queued", "running", "complete", "failed"]
    created_at: datetime
    finished_at: datetime | None
    job: JobOut
    cause: str | None
    domain: str | None
    confidence: Confidence | None
    action: Action | None
    summary: str | None


class Page(BaseModel):
    """A part of the list; `next` is the cursor of the part below it."""

    items: tuple[EntryOut, ...]
    next: Id | None


class PastVerdictOut(BaseModel):
    """An answer that a later one has replaced, and why."""

    revision: int
    finished_at: datetime
    replaced_at: datetime
    why: str
    cause: str | None
    action: str | None
    method: str | None
    rules: str | None


class FeedbackOut(BaseModel):
    """A word that is kept; `writing` tells of the rule that is written because of it, if one is."""

    diagnosis_id: Id
    at: datetime
    verdict: Literal["confirm", "correct"]
    cause: str = Field(description="the right one, as this person says")
    by: str
    note: str
    said_cause: str
    said_method: str
    said_rules: str
    false_restart: bool
    false_cordon: bool
    writing: Literal["wanted", "done"] | None
    writing_note: str | None


class History(BaseModel):
    """The replaced answers of a diagnosis and what people said of it, the oldest first."""

    items: tuple[PastVerdictOut, ...]
    feedback: tuple[FeedbackOut, ...]
