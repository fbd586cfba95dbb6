"""The webhook that schedulers call when a job has ended."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from app.api import signature
from app.api.document import body_of, parsed
from app.api.forms import JobExited
from app.api.problems import declared
from app.api.routes import ServiceOf
from app.api.routes import router as diagnoses

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])

_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/JobExited"}},
        },
    }
}


class Accepted(BaseModel):
    """The diagnosis that the report belongs to."""

    id: str
    status: str
    is_new: bool = Field(description="false where this exit was reported before")


async def _body(request: Request) -> bytes:
    return await body_of(request)


@router.post(
    "/job-exit",
    status_code=202,
    openapi_extra=_BODY,
    responses={
        202: {"model": Accepted, "description": "It is kept"},
        **declared(400, 401, 403, 413, 422, 429, 500, 503),
    },
)
async def job_exit(
    request: Request, body: Annotated[bytes, Depends(_body)], service: ServiceOf
) -> Response:
    """Report that a job has ended (Standard Webhooks signature).

    The same `webhook-id`, or the same cluster, job and attempt, is the same diagnosis. Its log is
    read once it is no longer written, and again if it has grown when this is reported once more.
    """
    webhook_id = signature.check(service.settings.webhook_secrets, request.headers, body)
    exited = parsed(body, JobExited)
    known = await service.exits.accept(webhook_id, exited.data.job(), exited.data.uris)
    said = Accepted(id=known.id, status=known.status, is_new=known.is_new)
    response = JSONResponse(said.model_dump(), 202)
    response.headers["Location"] = f"{diagnoses.prefix}/{known.id}"
    return response
