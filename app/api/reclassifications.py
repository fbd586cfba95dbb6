"""Old diagnoses under the rules of today: as a dry run or applied, with what changes and costs."""

from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints
from starlette.responses import JSONResponse, Response

from app.api.forms import Id, Text, Time, seconds
from app.api.problems import declared
from app.api.routes import ServiceOf
from app.store.reclassifications import Chosen, Run
from app.store.toll_csv import as_csv

router = APIRouter(prefix="/v1/reclassifications", tags=["reclassifications"])

RunId = Annotated[str, StringConstraints(pattern=r"^rc_[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
_FAULTS = declared(401, 403, 404, 429, 500, 503)
_BEGIN_FAULTS = declared(400, 401, 403, 413, 422, 429, 500, 503)


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


class ReclassificationRequest(BaseModel):
    """What is to be judged again."""

    model_config = ConfigDict(extra="forbid")
    filter: Choice = Choice()
    apply: StrictBool = Field(default=False, description="replace the verdicts; else only tell")


class RunOut(BaseModel):
    """How far a run is; `from_kept` were judged without reading their logs again."""

    id: RunId
    status: Literal["running", "complete", "cancelled", "failed"]
    apply: bool
    created_at: datetime
    finished_at: datetime | None
    rules: str | None
    total: int
    done: int
    from_kept: int
    from_logs: int
    unread: int = Field(description="whose log is gone and was not kept; they stay as they are")
    fault: str | None


class ChangeOut(BaseModel):
    """A verdict that came out otherwise."""

    diagnosis_id: Id
    cause_before: str | None
    cause: str | None
    action_before: str | None
    action: str | None
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

    changed: tuple[ChangeOut, ...]
    next: Id | None = Field(description="cursor of the changes below these")
    table: tuple[TollOut, ...]


class ChangePage(BaseModel):
    """A part of the changes; `next` is the cursor of the part below it."""

    items: tuple[ChangeOut, ...]
    next: Id | None


class ChangeQuery(BaseModel):
    """Which part of the changes."""

    model_config = ConfigDict(extra="forbid")
    cursor: Id | None = None
    limit: int = Field(default=200, ge=1, le=1000)


class RunPage(BaseModel):
    """The newest runs."""

    items: tuple[RunOut, ...]


@router.post("", status_code=202, responses={202: {"model": RunOut}, **_BEGIN_FAULTS})
async def begin(told: ReclassificationRequest, service: ServiceOf) -> Response:
    """Judge stored diagnoses again under the present rules."""
    chosen = told.filter
    run = await service.reclassification.begin(
        Chosen(
            cause=chosen.cause,
            cluster=chosen.cluster,
            job_id=chosen.job_id,
            since=seconds(chosen.since) if chosen.since else None,
            until=seconds(chosen.until) if chosen.until else None,
        ),
        applies=told.apply,
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
    told = {"changed": page["items"], "next": page["next"], "table": table}
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


@router.post("/{id}/cancel", responses={200: {"model": RunOut}, **declared(400), **_FAULTS})
async def cancel(id: str, service: ServiceOf) -> Response:
    """Stop a run; what it has applied stays."""
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
    items = [asdict(change) for change in shown]
    return {"items": items, "next": shown[-1].diagnosis_id if more else None}


def _of(run: Run) -> dict[str, object]:
    told = asdict(run)
    for name in ("chosen", "last_id"):
        del told[name]
    told["apply"] = told.pop("applies")
    for name in ("created_at", "finished_at"):
        told[name] = _time(told[name]) if told[name] is not None else None
    return told


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
