"""Old diagnoses, or logs, under the rules of today: what changes, and what failures cost."""

from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.responses import JSONResponse, Response, StreamingResponse

from app.api.forms import seconds
from app.api.problems import declared
from app.api.reclassification_forms import (
    ChangePage,
    ChangeQuery,
    ReclassificationRequest,
    RunOut,
    RunPage,
    RunWhole,
)
from app.api.routes import ServiceOf
from app.moment import in_utc
from app.service.reclassification import Wish
from app.store.run import Chosen, Run
from app.store.toll_csv import as_csv, changes_csv

router = APIRouter(prefix="/v1/reclassifications", tags=["reclassifications"])

_FAULTS = declared(401, 403, 404, 429, 500, 503)
_BEGIN_FAULTS = declared(400, 401, 403, 404, 413, 422, 429, 500, 503)


class Csv(Response):
    """Comma-separated values."""

    media_type = "text/csv"


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
