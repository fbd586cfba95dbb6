"""A person's word on an answer, over HTTP."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import JSONResponse, Response

from app.api.forms import Id
from app.api.problems import declared
from app.api.routes import ServiceOf
from app.store.feedback import Feedback

router = APIRouter(prefix="/v1/diagnoses", tags=["diagnoses"])

Name = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\x00]*$")]
Note = Annotated[str, StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$")]


class FeedbackRequest(BaseModel):
    """What a person says of an answer."""

    model_config = ConfigDict(extra="forbid")
    verdict: Literal["confirm", "correct"]
    cause: Annotated[str, StringConstraints(max_length=64)] | None = Field(
        default=None, description="the right cause, where the answer is to be corrected"
    )
    note: Note = Field(default="", description="how that is known; a rule writer is shown it")
    by: Name | None = Field(default=None, description="who says so; default: the token's name")


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


class FeedbackList(BaseModel):
    """All that was said of one answer, the oldest first; the last word counts."""

    items: tuple[FeedbackOut, ...]


_FAULTS = declared(401, 403, 404, 429, 500, 503)


@router.post(
    "/{id}/feedback",
    status_code=201,
    responses={201: {"model": FeedbackOut}, **declared(400, 409, 422), **_FAULTS},
)
async def give_feedback(
    id: str, told: FeedbackRequest, request: Request, service: ServiceOf
) -> Response:
    """Confirm or correct an answer; that feeds memory, the regression set and the rule writer."""
    by = told.by or getattr(request.state, "caller", None) or "anonymous"
    kept = await service.reviews.give(id, told.verdict, told.cause, by, told.note)
    return JSONResponse(_of(kept), 201)


@router.get("/{id}/feedback", responses={200: {"model": FeedbackList}, **_FAULTS})
async def read_feedback(id: str, service: ServiceOf) -> Response:
    """List what people said of an answer."""
    await service.find(id)
    return JSONResponse({"items": [_of(one) for one in await service.reviews.of(id)]})


def _of(kept: Feedback) -> dict[str, object]:
    told = asdict(kept)
    del told["id"]
    at = datetime.fromtimestamp(kept.at, UTC).isoformat(timespec="milliseconds")
    return {**told, "at": at}
