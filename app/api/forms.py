"""The forms of what HTTP requests may say; an unknown field is refused."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from app.model import Job


def _no_number(value: object) -> object:
    """Refuse bare numbers, which could be seconds, milliseconds or a year."""
    if isinstance(value, str) and re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", value):
        raise ValueError("give a time such as 2026-11-30T03:45:00Z")
    return value


Text = Annotated[str, StringConstraints(max_length=256, pattern=r"^[^\x00]*$")]
Node = Annotated[str, StringConstraints(max_length=256, pattern="^[ -~]*$")]
Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31)]
Uri = Annotated[
    str,
    StringConstraints(
        max_length=4096, pattern=r"^(file://(localhost)?/|s3://[a-z0-9.-]{3,63}/)[^?#\x00]*$"
    ),
]
Callback = Annotated[str, StringConstraints(max_length=2048, pattern=r"^https?://[!-~]+$")]
Time = Annotated[datetime, BeforeValidator(_no_number)]
Id = Annotated[str, StringConstraints(pattern=r"^dg_[0-7][0-9A-HJKMNP-TV-Z]{25}$")]


def seconds(moment: datetime) -> float:
    """Give the seconds since the epoch; a time without a zone is read as UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class JobForm(BaseModel):
    """What is known of the job; all of it may be left out."""

    model_config = ConfigDict(extra="forbid")

    job_id: Text | None = Field(default=None, description="the scheduler's number of the job")
    attempt: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    job_type: Text | None = Field(default=None, description="jobs whose logs look alike")
    scheduler: Text | None = None
    cluster: Text | None = None
    name: Text | None = None
    user: Text | None = None
    state: Text | None = Field(default=None, description="final state, as the scheduler names it")
    exit_code: Int32 | None = None
    signal: Annotated[int, Field(ge=0, lt=256)] | None = None
    nodes: Annotated[tuple[Node, ...], Field(max_length=20_000)] = ()

    def job(self) -> Job:
        """Give the job as the pipeline knows it."""
        return Job(**{name: getattr(self, name) for name in JobForm.model_fields})


class RawQuery(JobForm):
    """The query of a raw upload: the job, and how long to wait for the answer."""

    nodes: Annotated[tuple[Node, ...], Field(max_length=32)] = ()  # a URL holds no more
    wait: float = Field(default=0, ge=0, le=600, description="seconds to wait for the answer")
    callback_url: Callback | None = Field(
        default=None, description="is posted the event `diagnosis.completed`, signed"
    )


class LogAtUri(BaseModel):
    """One file or folder below a log root."""

    model_config = ConfigDict(extra="forbid")
    uri: Uri


class LogAtUris(BaseModel):
    """Several files of one job, such as one for each node."""

    model_config = ConfigDict(extra="forbid")
    uris: Annotated[tuple[Uri, ...], Field(min_length=1, max_length=10_000)]


class LogText(BaseModel):
    """A short log inside of the request."""

    model_config = ConfigDict(extra="forbid")
    text: Annotated[str, StringConstraints(min_length=1)]


def _kind_of_log(value: object) -> str | None:
    names = value if isinstance(value, dict) else ()
    return next((kind for kind in ("uri", "uris", "text") if kind in names), None)


LogForm = Annotated[
    Annotated[LogAtUri, Tag("uri")]
    | Annotated[LogAtUris, Tag("uris")]
    | Annotated[LogText, Tag("text")],
    Discriminator(
        _kind_of_log,
        custom_error_type="no_log",
        custom_error_message="give the log as one of uri, uris, text",
    ),
]


class DiagnosisRequest(BaseModel):
    """A log and the job that wrote it."""

    model_config = ConfigDict(extra="forbid")
    log: LogForm
    job: JobForm = JobForm()
    callback_url: Callback | None = None


class ListQuery(BaseModel):
    """Which diagnoses to list."""

    model_config = ConfigDict(extra="forbid")
    job_id: Text | None = None
    cause: Text | None = None
    since: Time | None = Field(default=None, description="accepted at this time or later")
    cursor: Id | None = Field(default=None, description="`next` of the page above")
    limit: int = Field(default=50, ge=1, le=200)


class JobExit(JobForm):
    """A job that has ended: all that the scheduler knows of it, and where its log is."""

    gpus: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    started_at: Time | None = None
    ended_at: Time | None = None
    log_uri: Uri | None = None
    log_uris: Annotated[tuple[Uri, ...], Field(max_length=10_000)] = ()
    checkpoint_dir: Annotated[str, StringConstraints(max_length=4096)] | None = None

    @model_validator(mode="after")
    def _names_a_log(self) -> Self:
        if not self.uris:
            raise ValueError("give the place of the log as log_uri or log_uris")
        return self

    @property
    def uris(self) -> tuple[str, ...]:
        """Where the log is."""
        return (*((self.log_uri,) if self.log_uri else ()), *self.log_uris)

    def job(self) -> Job:
        """Give the job as the pipeline knows it."""
        return replace(
            super().job(),
            gpus=self.gpus,
            started_at=seconds(self.started_at) if self.started_at else None,
            ended_at=seconds(self.ended_at) if self.ended_at else None,
            checkpoint_dir=self.checkpoint_dir,
        )


class JobExited(BaseModel):
    """The message that a scheduler sends when a job has ended."""

    model_config = ConfigDict(extra="forbid")
    type: Literal["job.exited"]
    timestamp: Time
    data: JobExit
