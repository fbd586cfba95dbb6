"""Diagnoses over HTTP: calls to the service and back; nothing is decided here."""

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import PlainTextResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.responses import JSONResponse, Response

from app.api import events, intake
from app.api.forms import ListQuery, RawQuery, seconds
from app.api.problems import declared
from app.api.schemas import Diagnosis, Ended, History, Page, Pending
from app.moment import in_utc
from app.service import Service
from app.store.diagnoses import Entry, Record
from app.store.feedback import Feedback
from app.store.history import PastVerdict

router = APIRouter(prefix="/v1/diagnoses", tags=["diagnoses"])

_BODY = {
    "requestBody": {
        "description": "a JSON document, or the log itself (Content-Encoding: gzip or zstd)",
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/DiagnosisRequest"}},
            "text/plain": {"schema": {"type": "string", "minLength": 1}},
            "application/octet-stream": {
                "schema": {"type": "string", "format": "binary", "minLength": 1}
            },
        },
    }
}
_LOCATION = {"Location": {"description": "where the diagnosis is", "schema": {"type": "string"}}}


async def _service(request: Request) -> Service:  # not async it would cost a trip to a thread
    service: Service = request.app.state.service
    return service


ServiceOf = Annotated[Service, Depends(_service)]


@router.post(
    "",
    status_code=202,
    max_body_size=1 << 62,  # that of a log is a setting, and checked while it is written to disk
    openapi_extra=_BODY,
    responses={
        200: {"model": Ended, "headers": _LOCATION, "description": "It has ended in time"},
        202: {"model": Pending, "headers": _LOCATION, "description": "It is accepted"},
        **declared(400, 403, 404, 413, 415, 422, 429, 500, 503),
    },
)
async def diagnose(
    request: Request, query: Annotated[RawQuery, Query()], service: ServiceOf
) -> Response:
    """Diagnose a log.

    The log is the body itself, or is contained in or named by a JSON document. In the first case
    the job is described by query parameters. With `wait` the answer comes at once if it is ready
    within so many seconds; else, and without `wait`, it is to be had from `Location`.
    """
    await service.crew.admit()
    told = await intake.read(request, query, service)
    id = await service.submit(told.job, tuple(told.origins), told.callback_url)
    record = await service.find(id, query.wait)
    ended = record.status in ("complete", "failed")
    response = _of_record(record, service, 200 if ended else 202)
    response.headers["Location"] = f"{router.prefix}/{id}"
    return response


@router.get("", responses={200: {"model": Page}, **declared(422, 500, 503)})
async def list_diagnoses(query: Annotated[ListQuery, Query()], service: ServiceOf) -> Response:
    """List diagnoses, the newest first."""
    found = await service.page(
        job_id=query.job_id,
        cause=query.cause,
        since=seconds(query.since) if query.since else None,
        before=query.cursor,
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = len(found) > len(shown)
    return JSONResponse(
        {"items": [_of_entry(entry) for entry in shown], "next": shown[-1].id if more else None}
    )


@router.get("/{id}", responses={200: {"model": Diagnosis}, **declared(404, 500, 503)})
async def read_diagnosis(id: str, service: ServiceOf) -> Response:
    """Read a diagnosis: its answer, or how far it is."""
    return _of_record(await service.find(id), service, 200)


@router.get(
    "/{id}/digest", response_class=PlainTextResponse, responses=declared(404, 409, 500, 503)
)
async def read_digest(id: str, service: ServiceOf) -> Response:
    """Read the log brought down to what may matter, with its original line numbers."""
    return PlainTextResponse(await service.digest(id))


@router.get("/{id}/history", responses={200: {"model": History}, **declared(404, 500, 503)})
async def read_history(id: str, service: ServiceOf) -> Response:
    """List the answers that later ones have replaced, and what people said."""
    past = await service.history(id)
    words = await service.reviews.of(id)
    return JSONResponse({"items": list(map(_of_past, past)), "feedback": list(map(of_word, words))})


async def _existing(id: str, service: ServiceOf) -> str:
    """Answer 404 before a stream has begun."""
    await service.find(id)
    return id


@router.get("/{id}/events", response_class=EventSourceResponse, responses=declared(404, 500, 503))
async def follow(
    id: Annotated[str, Depends(_existing)], service: ServiceOf
) -> AsyncIterator[ServerSentEvent]:
    """Follow a diagnosis: events `status`, `progress` and, last, `end`."""
    async for event in events.of_diagnosis(service, id):
        yield event


def _of_record(record: Record, service: Service, status: int) -> Response:
    """Send the stored answer as it is; it was checked when it was made."""
    if record.answer is not None:
        return Response(record.answer, status, media_type="application/json")
    body: dict[str, object] = {
        "id": record.id,
        "status": record.status,
        "created_at": in_utc(record.created_at),
        "job": json.loads(record.job),
    }
    if record.fault is not None:
        fault = record.fault
        body["error"] = {"kind": fault.kind, "status": fault.status, "detail": fault.detail}
    else:
        body["progress"] = service.progress(record.id)
    return JSONResponse(body, status)


def _of_entry(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.id,
        "status": entry.status,
        "created_at": in_utc(entry.created_at),
        "finished_at": in_utc(entry.finished_at) if entry.finished_at else None,
        "job": json.loads(entry.job),
        "cause": entry.cause,
        "domain": entry.domain,
        "confidence": entry.confidence,
        "action": entry.action,
        "summary": entry.summary,
    }


def _of_past(verdict: PastVerdict) -> dict[str, object]:
    times = {name: in_utc(getattr(verdict, name)) for name in ("finished_at", "replaced_at")}
    return {**asdict(verdict), **times}


def of_word(kept: Feedback) -> dict[str, object]:
    """Write a person's word."""
    told = asdict(kept)
    del told["id"]
    return {**told, "at": in_utc(kept.at)}
