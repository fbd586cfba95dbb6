"""Whether the service lives, whether it can work, and its figures."""

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel
from starlette.responses import Response

from app.api.metrics import Metrics
from app.service import Service

router = APIRouter(tags=["operation"])
figures = APIRouter(tags=["operation"])


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """Each thing that the service needs: `ok`, or what is wrong with it."""

    status: Literal["ready", "not ready"]
    rules_version: str
    database: str
    rules: str
    disk: str


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz")
async def healthz() -> Health:
    """Say that the process answers."""
    return Health()


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", responses={200: {"model": Readiness}, 503: {"model": Readiness}})
async def readyz(request: Request) -> Response:
    """Say whether the database, the rules and the disk are fit for work."""
    service: Service = request.app.state.service
    faults = await service.faults()
    ready = not any(faults.values())
    said = Readiness(
        status="ready" if ready else "not ready",
        rules_version=service.rules,
        **{name: fault or "ok" for name, fault in faults.items()},
    )
    return JSONResponse(said.model_dump(), 200 if ready else 503)


@figures.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Give the figures for Prometheus."""
    await request.app.state.service.lookout.look()
    known: Metrics = request.app.state.metrics
    return Response(known.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
