"""The rules over HTTP: those that count, and those that a model proposes."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import JSONResponse, Response

from app.api.feedback import Name, Note
from app.api.forms import Id
from app.api.problems import declared
from app.api.routes import ServiceOf
from app.model import Action, Strength
from app.moment import in_utc
from app.store.proposals import Proposal, State

router = APIRouter(prefix="/v1/rules", tags=["rules"])

ProposalId = Annotated[str, StringConstraints(pattern=r"^pr_[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
_FAULTS = declared(401, 403, 429, 500, 503)


class CauseOut(BaseModel):
    """A cause that answers may name."""

    name: str
    domain: str
    title: str
    status: str
    action: Action
    signals: int


class SignalOut(BaseModel):
    """A way in which a cause shows; `learned` where it was proposed here and approved."""

    name: str
    cause: str
    strength: Strength
    emitter: str
    says: str
    learned: bool


class RulesOut(BaseModel):
    """All rules that count; `unfit` are approved ones that these rules leave no room for."""

    version: str
    causes: tuple[CauseOut, ...]
    signals: tuple[SignalOut, ...]
    unfit: dict[str, str]


class GateOut(BaseModel):
    """A test that a proposal must pass; `why` it does not, null where it does."""

    gate: str
    why: str | None


class ShownOut(BaseModel):
    """The lines of a confirmed failure that the model was shown."""

    diagnosis_id: Id
    lines: tuple[str, ...]


class ProposalOut(BaseModel):
    """A signal that a model wrote; `text` is a file for `rules/signals/`.

    `rules` is the version of the rules that it was tried beside, `hits` counts the answers since
    in which it was found.
    """

    id: ProposalId
    state: State
    diagnosis_id: Id
    name: str
    cause: str
    text: str
    model: str
    prompt_version: int
    evidence: tuple[ShownOut, ...]
    gates: tuple[GateOut, ...]
    rules: str
    created_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    note: str
    hits: int


class ProposalPage(BaseModel):
    """A part of the list; `next` is the cursor of the part below it."""

    items: tuple[ProposalOut, ...]
    next: ProposalId | None


class ProposalQuery(BaseModel):
    """Which proposals to list."""

    model_config = ConfigDict(extra="forbid")
    state: Literal["proposed", "approved", "rejected", "withdrawn"] | None = None
    cursor: ProposalId | None = None
    limit: int = Field(default=50, ge=1, le=200)


class Decision(BaseModel):
    """Who decides, and why."""

    model_config = ConfigDict(extra="forbid")
    by: Name | None = Field(default=None, description="default: the token's name")
    note: Note = ""


@router.get("", responses={200: {"model": RulesOut}, **_FAULTS})
async def read_rules(service: ServiceOf) -> Response:
    """List the rules that count."""
    counting = await service.learned.counting()
    book = counting.rulebook
    causes = [
        {
            "name": cause.name,
            "domain": cause.domain,
            "title": cause.title,
            "status": cause.status,
            "action": cause.recovery.action,
            "signals": sum(signal.cause == cause.name for signal in book.signals),
        }
        for cause in book.causes.values()
    ]
    signals = [
        {
            **{name: getattr(one, name) for name in ("name", "cause", "strength", "emitter")},
            "says": one.says,
            "learned": one.name in counting.learned,
        }
        for one in book.signals
    ]
    told = {"version": book.fingerprint, "unfit": dict(counting.unfit)}
    return JSONResponse({**told, "causes": causes, "signals": signals})


@router.get("/proposals", responses={200: {"model": ProposalPage}, **declared(422), **_FAULTS})
async def list_proposals(query: Annotated[ProposalQuery, Query()], service: ServiceOf) -> Response:
    """List what a model proposed, the newest first."""
    found = await service.learned.page(query.state, query.cursor, query.limit + 1)
    shown = found[: query.limit]
    more = len(found) > len(shown)
    items = [_of(proposal) for proposal in shown]
    return JSONResponse({"items": items, "next": shown[-1].id if more else None})


@router.get("/proposals/{id}", responses={200: {"model": ProposalOut}, **declared(404), **_FAULTS})
async def read_proposal(id: str, service: ServiceOf) -> Response:
    """Read a proposal."""
    return JSONResponse(_of(await service.learned.find(id)))


@router.post(
    "/proposals/{id}/approve",
    responses={200: {"model": ProposalOut}, **declared(400, 404, 422), **_FAULTS},
)
async def approve(
    id: str, request: Request, service: ServiceOf, told: Decision | None = None
) -> Response:
    """Let a proposed signal count from the next log on."""
    return await _decide(id, "approved", request, service, told)


@router.post(
    "/proposals/{id}/reject",
    responses={200: {"model": ProposalOut}, **declared(400, 404, 422), **_FAULTS},
)
async def reject(
    id: str, request: Request, service: ServiceOf, told: Decision | None = None
) -> Response:
    """Turn a proposal down."""
    return await _decide(id, "rejected", request, service, told)


@router.post(
    "/proposals/{id}/withdraw",
    responses={200: {"model": ProposalOut}, **declared(400, 404, 422), **_FAULTS},
)
async def withdraw(
    id: str, request: Request, service: ServiceOf, told: Decision | None = None
) -> Response:
    """Take an approved signal back; from the next log on it counts no more."""
    return await _decide(id, "withdrawn", request, service, told)


async def _decide(
    id: str, state: State, request: Request, service: ServiceOf, told: Decision | None
) -> Response:
    said = told or Decision()
    by = said.by or getattr(request.state, "caller", None) or "anonymous"
    return JSONResponse(_of(await service.learned.decide(id, state, by, said.note)))


def _of(proposal: Proposal) -> dict[str, object]:
    told = asdict(proposal)
    written = told.pop("written")
    for name in ("created_at", "decided_at"):
        told[name] = in_utc(told[name]) if told[name] is not None else None
    return {**told, **written}
