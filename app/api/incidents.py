"""Past incidents over HTTP: find them by words, or by what they are like."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import JSONResponse, Response

from app.api.forms import Id
from app.api.problems import declared
from app.api.routes import ServiceOf
from app.incident import Incident, Recalled
from app.moment import in_utc
from app.service.service import Service

router = APIRouter(prefix="/v1/incidents", tags=["incidents"])

IncidentId = Annotated[str, StringConstraints(pattern=r"^in_[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
Most = Annotated[int, Field(ge=1, le=50)]


class ConfirmedOut(BaseModel):
    """A person's word on the cause."""

    by: str
    at: datetime
    note: str


class IncidentOut(BaseModel):
    """A past incident; `lines` show it, with all that differs from run to run masked.

    `similarity` is the cosine of the vectors; the order also counts shared words.
    """

    id: IncidentId
    diagnosis_id: Id
    cause: str
    similarity: Annotated[float, Field(ge=0, le=1)]
    confirmed: ConfirmedOut | None
    cluster: str | None
    job_id: str | None
    job_type: str | None
    fingerprint: str
    created_at: datetime
    lines: tuple[str, ...]


class Alike(BaseModel):
    """Incidents, the likest first; `note` says what the search had to do without."""

    items: tuple[IncidentOut, ...]
    note: str | None
    agreed: str | None = Field(
        description="the cause of all confirmed incidents that lie very close, if several do"
    )


class SearchQuery(BaseModel):
    """What to look for."""

    model_config = ConfigDict(extra="forbid")
    q: Annotated[str, StringConstraints(min_length=1, max_length=10_000, pattern=r"\S")] = Field(
        description="words, or pasted lines of a log"
    )
    limit: Most = 10


@router.get("/search", responses={200: {"model": Alike}, **declared(422, 500, 503)})
async def search(query: Annotated[SearchQuery, Query()], service: ServiceOf) -> Response:
    """Find incidents by words or by lines of a log."""
    return await _of(await service.memory.alike_text(query.q, query.limit), service)


@router.get("/{id}/similar", responses={200: {"model": Alike}, **declared(404, 422, 500, 503)})
async def similar(id: str, service: ServiceOf, limit: Annotated[Most, Query()] = 10) -> Response:
    """Find what is like an incident; `id` is its own or that of its diagnosis."""
    incident = await service.memory.incident(id)
    return await _of(await service.memory.alike(incident.snippet, limit, incident.id), service)


async def _of(found: Recalled, service: Service) -> Response:
    known = await service.memory.incidents([one.id for one in found.precedents])
    items = [_item(known[one.id], one.similarity) for one in found.precedents if one.id in known]
    return JSONResponse({"items": items, "note": found.note, "agreed": found.agreed})


def _item(incident: Incident, similarity: float) -> dict[str, object]:
    said = incident.confirmed
    return {
        "id": incident.id,
        "diagnosis_id": incident.diagnosis_id,
        "cause": incident.cause,
        "similarity": similarity,
        "confirmed": {"by": said.by, "at": in_utc(said.at), "note": said.note} if said else None,
        "cluster": incident.cluster,
        "job_id": incident.job_id,
        "job_type": incident.job_type,
        "fingerprint": incident.fingerprint,
        "created_at": in_utc(incident.created_at),
        "lines": incident.snippet.lines,
    }
