"""Old diagnoses, or logs, under the rules of today: what changes, and what failures cost."""

from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    model_validator,
)
from starlette.responses import JSONResponse, Response, StreamingResponse

from app.api.forms import Id, Text, Time, seconds
from app.api.problems import declared
from app.api.routes import ServiceOf
from app.moment import in_utc
from app.service.reclassification import Wish
from app.store.run import Chosen, Run
from app.store.toll_csv import as_csv, changes_csv

router = APIRouter(prefix="/v1/reclassifications", tags=["reclassifications"])

RunId = Annotated[str, StringConstraints(pattern=r"^rc_[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
_FAULTS = declared(401, 403, 404, 429, 500, 503)
_BEGIN_FAULTS = declared(400, 401, 403, 404, 413, 422, 429, 500, 503)

Cursor = Annotated[str, StringConstraints(max_length=8192, pattern=r"^[^\x00]*$")]
Limit = Annotated[int, Field(ge=0, le=1_000_000_000)]


class Csv(Response):
    """Comma-separated values."""

    media_type = "text/csv"


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


@router.post("", status_code=202, responses={202: {"model": RunOut}, **_BEGIN_FAULTS})
async def begin(told: ReclassificationRequest, service: ServiceOf) -> Response:
    """Judge stored diagnoses, or logs, under the present rules."""
    chosen, model = told.filter, told.model
    run = await service.reclassification.begin(
        Chosen(
            cause=chosen.cause,
            cluster=chosen.cluster,
            job_id=chosen.job_id,
            since=seconds(chosen.since) if chosen.since else None,
            until=seconds(chosen.until) if chosen.until else None,
            logs=told.logs,
        ),
        applies=told.apply,
        wish=Wish(model.name, model.calls, model.tokens) if model else None,
    )
    response = JSONResponse(_of(run), 202)
    response.headers["Location"] = f"{router.prefix}/{run.id}"
    return response


@router.get("", responses={200: {"model": RunPage}, **_FAULTS})
async def list_runs(service: ServiceOf) -> Response:
    """List the newest runs."""
    return JSONResponse({"items": [_of(run) for run in await service.reclassification.page(50)]})


@router.get("/{id}", responses={200: {"model": RunWhole}, **_FAULTS})
async def read_run(id: str, service: ServiceOf) -> Response:
    """Read a run: how far it is, what changed, and the table by cause."""
    runs = service.reclassification
    run = await runs.find(id)
    page = await _changes(service, id, ChangeQuery())
    table = [asdict(row) for row in await runs.toll(id)]
    listed = await runs.listed(id)
    told = {
        "changed": page["items"],
        "changed_count": listed.changed,
        "unjudged_count": listed.unjudged,
        "next": page["next"],
        "table": table,
    }
    return JSONResponse({**_of(run), **told})


@router.get("/{id}/changes", responses={200: {"model": ChangePage}, **declared(422), **_FAULTS})
async def read_changes(
    id: str, query: Annotated[ChangeQuery, Query()], service: ServiceOf
) -> Response:
    """List the verdicts that changed, or would, in the order of the diagnoses."""
    await service.reclassification.find(id)
    return JSONResponse(await _changes(service, id, query))


@router.get("/{id}/table.csv", response_class=Csv, responses=_FAULTS)
async def read_table(id: str, service: ServiceOf) -> Response:
    """Read the table by cause as CSV."""
    table = await service.reclassification.toll(id)
    return Csv(as_csv(table))


@router.get("/{id}/changes.csv", response_class=Csv, responses=_FAULTS)
async def read_changes_csv(id: str, service: ServiceOf) -> Response:
    """Read all changes as CSV."""
    await service.reclassification.find(id)
    rows = changes_csv(service.reclassification.every_change(id))
    return StreamingResponse(rows, media_type=Csv.media_type)


@router.post("/{id}/cancel", responses={200: {"model": RunOut}, **declared(400), **_FAULTS})
async def cancel(id: str, service: ServiceOf) -> Response:
    """Stop a run within seconds; what it has applied stays."""
    return JSONResponse(_of(await service.reclassification.cancel(id)))


async def _existing(id: str, service: ServiceOf) -> str:
    """Answer 404 before a stream has begun."""
    await service.reclassification.find(id)
    return id


@router.get("/{id}/events", response_class=EventSourceResponse, responses=_FAULTS)
async def follow(
    id: Annotated[str, Depends(_existing)], service: ServiceOf
) -> AsyncIterator[ServerSentEvent]:
    """Follow a run: events `progress` and, last, `end`."""
    async for run in service.reclassification.watch(id):
        event = "progress" if run.status == "running" else "end"
        yield ServerSentEvent(event=event, data=_of(run))


async def _changes(service: ServiceOf, id: str, query: ChangeQuery) -> dict[str, object]:
    found = await service.reclassification.changes(id, query.cursor, query.limit + 1)
    shown = found[: query.limit]
    more = len(found) > len(shown)
    items = [change.spelt() for change in shown]
    return {"items": items, "next": shown[-1].subject if more else None}


def _of(run: Run) -> dict[str, object]:
    told = asdict(run)
    for name in ("chosen", "last", "asks"):
        del told[name]
    told["logs"] = run.chosen.logs
    told["apply"] = told.pop("applies")
    told["model"] = run.asks.model if run.asks else None
    told["prompts"] = run.asks.edition if run.asks else None
    for name in ("created_at", "finished_at"):
        told[name] = in_utc(told[name]) if told[name] is not None else None
    return told
