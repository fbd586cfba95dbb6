"""Filters that a model wrote, over HTTP: look at them, switch them off and on."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response

from app.api.problems import declared
from app.api.routes import ServiceOf
from app.moment import in_utc
from app.store.filters import KeptFilter
from app.written import FilterState

router = APIRouter(prefix="/v1/filters", tags=["filters"])


class FilterOut(BaseModel):
    """A filter of one type of job.

    `votes` of `answers` answers of the model (`author`) took the same lines away, which are a
    `share` of the log that it was written for; `lines_taken` counts what it took since.
    """

    id: str
    job_type: str
    name: str
    state: FilterState
    title: str
    why: str
    match: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]
    author: str
    votes: int
    answers: int
    share: float
    lines_taken: int
    last_hit_at: datetime | None
    based_on: str | None
    created_at: datetime


class FilterList(BaseModel):
    """Filters by type of job and name."""

    items: tuple[FilterOut, ...]


class FilterQuery(BaseModel):
    """Which filters to list."""

    model_config = ConfigDict(extra="forbid")
    job_type: str | None = None
    state: FilterState | None = None


@router.get("", responses={200: {"model": FilterList}, **declared(422, 500, 503)})
async def list_filters(query: Annotated[FilterQuery, Query()], service: ServiceOf) -> Response:
    """List the filters that a model wrote."""
    found = await service.filters.page(query.job_type, query.state)
    return JSONResponse({"items": [_item(one) for one in found]})


@router.post("/{id}/{state}", responses={200: {"model": FilterOut}, **declared(404, 422, 500, 503)})
async def switch(id: str, state: Literal["on", "off"], service: ServiceOf) -> Response:
    """Let a filter take lines away from the next log on, or not."""
    return JSONResponse(_item(await service.filters.switch(id, on=state == "on")))


def _item(one: KeptFilter) -> dict[str, object]:
    return {
        "id": one.id,
        "job_type": one.job_type,
        "name": one.name,
        "state": one.state,
        "title": one.title,
        "why": one.why,
        "match": one.match,
        "hits": one.hits,
        "misses": one.misses,
        "author": one.author,
        "votes": one.votes,
        "answers": one.answers,
        "share": one.share,
        "lines_taken": one.taken,
        "last_hit_at": in_utc(one.last_hit_at) if one.taken and one.last_hit_at else None,
        "based_on": one.based_on,
        "created_at": in_utc(one.created_at),
    }
