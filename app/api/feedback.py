"""A person's word on an answer, over HTTP."""

from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import JSONResponse, Response

from app.api.problems import declared
from app.api.routes import ServiceOf, of_word
from app.api.schemas import FeedbackOut
from app.learn.word import LONGEST_NOTE

router = APIRouter(prefix="/v1/diagnoses", tags=["diagnoses"])

Name = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\x00]*$")]
Note = Annotated[str, StringConstraints(max_length=LONGEST_NOTE, pattern=r"^[^\x00]*$")]


class FeedbackRequest(BaseModel):
    """What a person says of an answer."""

    model_config = ConfigDict(extra="forbid")
    verdict: Literal["confirm", "correct"]
    cause: Annotated[str, StringConstraints(max_length=64)] | None = Field(
        default=None, description="the right cause, where the answer is to be corrected"
    )
    note: Note = Field(default="", description="how that is known; a rule writer is shown it")
    by: Name | None = Field(default=None, description="who says so; default: the token's name")


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
    return JSONResponse(of_word(kept), 201)


@router.get("/{id}/feedback", responses={200: {"model": FeedbackList}, **_FAULTS})
async def read_feedback(id: str, service: ServiceOf) -> Response:
    """List what people said of an answer."""
    await service.find(id)
    return JSONResponse({"items": [of_word(one) for one in await service.reviews.of(id)]})
