"""The forms of what is asked and told of reclassifications."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    model_validator,
)

from app.api.forms import Id, Text, Time, seconds

RunId = Annotated[str, StringConstraints(pattern=r"^rc_[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
Cursor = Annotated[str, StringConstraints(max_length=8192, pattern=r"^[^\x00]*$")]
Limit = Annotated[int, Field(ge=0, le=1_000_000_000)]


class Choice(BaseModel):
    """Which complete diagnoses are meant; what is left out lets all through."""

    model_config = ConfigDict(extra="forbid")
    cause: Text | None = None
    cluster: Text | None = None
    job_id: Text | None = None
    since: Time | None = Field(default=None, description="accepted at this time or later")
    until: Time | None = Field(default=None, description="accepted before this time")

    @model_validator(mode="after")
    def _has_time_between(self) -> "Choice":
        if self.since and self.until and seconds(self.since) >= seconds(self.until):
            raise ValueError("`since` is not before `until`: nothing is between them")
        return self


class ModelChoice(BaseModel):
    """A model for what rules leave in doubt, with the prompts of the service as they are now."""

    model_config = ConfigDict(extra="forbid")
    name: Text | None = Field(default=None, description="at the endpoint of the settings")
    calls: Limit = Field(default=0, description="that the whole run may make; 0: any number")
    tokens: Limit = Field(default=0, description="that the whole run may take; 0: any number")


class ReclassificationRequest(BaseModel):
    """What is to be judged again: stored diagnoses, or the logs in some folders instead."""

    model_config = ConfigDict(extra="forbid")
    filter: Choice = Choice()
    logs: tuple[Text, ...] = Field(
        default=(),
        max_length=100,
        description="folders below FIRSTFAULT_LOG_ROOTS as file:///… or s3://…/, each entry of "
        "which is one job; nothing of them is stored",
    )
    apply: StrictBool = Field(default=False, description="replace the verdicts; else only tell")
    model: ModelChoice | None = Field(default=None, description="without it no model is asked")

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> "ReclassificationRequest":
        if self.logs and (self.apply or self.filter != Choice()):
            raise ValueError("`filter` and `apply` are for stored diagnoses, not for `logs`")
        return self


class RunOut(BaseModel):
    """How far a run is; `from_kept` were judged without reading their logs again."""

    id: RunId
    status: Literal["running", "complete", "cancelled", "failed"]
    apply: bool
    driver: Literal["service", "command"] = Field(
        description="who goes on with it: the service by itself, or a command on some machine"
    )
    created_at: datetime
    finished_at: datetime | None
    logs: tuple[str, ...]
    rules: str | None
    model: str | None
    prompts: str | None
    total: int
    done: int
    from_kept: int
    from_logs: int
    unread: int = Field(
        description="whose log is gone and was not kept, or could not be judged; they stay as they "
        "are"
    )
    asked: int = Field(description="that rules left in doubt and a model was to be asked about")
    unheard: int = Field(description="of these, those without an answer; rules stand")
    calls: int = Field(description="to the model")
    tokens: int = Field(description="that these took, or may have where they were broken off")
    note: str | None = Field(description="why there was no answer, the last time")
    fault: str | None


class ChangeOut(BaseModel):
    """A verdict that came out otherwise; of a log that was never stored, the verdict.

    Without a `cause` the log could not be judged, for the reason in `why`; what was there stays.
    """

    diagnosis_id: Id | None
    log: str | None
    cause_before: str | None
    cause: str | None
    domain: str | None
    action_before: str | None
    action: str | None
    by_model: bool = Field(description="whether the model made the difference to the rules")
    why: str


class TollOut(BaseModel):
    """What one cause has cost; times in seconds, null where no scheduler told."""

    cause: str
    domain: str
    count: int
    gpu_hours: float | None
    gpu_share: float | None
    to_failure: float | None
    to_restart: float | None


class RunWhole(RunOut):
    """A run with its outcome; further changes are at `/changes`."""

    changed: tuple[ChangeOut, ...] = Field(description="the first of them")
    changed_count: int = Field(description="verdicts that came out otherwise, in all")
    unjudged_count: int = Field(description="logs listed among them without a cause, in all")
    next: str | None = Field(description="cursor of the changes below these; null: there are none")
    table: tuple[TollOut, ...]


class ChangePage(BaseModel):
    """A part of the changes; `next` is the cursor of the part below it."""

    items: tuple[ChangeOut, ...]
    next: str | None


class ChangeQuery(BaseModel):
    """Which part of the changes."""

    model_config = ConfigDict(extra="forbid")
    cursor: Cursor | None = None
    limit: int = Field(default=200, ge=1, le=1000)


class RunPage(BaseModel):
    """The newest runs."""

    items: tuple[RunOut, ...]
