"""Assemble the HTTP face of a service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi_offline import FastAPIOffline
from pydantic.json_schema import models_json_schema

from app.api import (
    attrsvc,
    deliveries,
    exits,
    feedback,
    filters,
    incidents,
    ledger,
    probes,
    problems,
    reclassifications,
    routes,
    rules,
)
from app.api.access import Access, admitted, counted
from app.api.document import MAX_JSON_BYTES
from app.api.edge import Edge
from app.api.forms import DiagnosisRequest, JobExited
from app.api.metrics import Metrics
from app.api.problems import Problem
from app.service import Service

_DESCRIPTION = "Names the first fault that killed a training job, from its logs."


def create(service: Service) -> FastAPI:
    """Make the app; the service runs for as long as the app does."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = FastAPIOffline(
        title="firstfault",
        description=_DESCRIPTION,
        version=version("firstfault"),
        lifespan=lifespan,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    metrics = Metrics(service)
    app.state.service = service
    app.state.metrics = metrics
    app.state.access = Access(service.settings)
    bounded = APIRouter(max_body_size=MAX_JSON_BYTES)  # of the app it would pass by the edge
    bounded.include_router(exits.router, dependencies=[Depends(counted)])
    for router in (
        routes.router,
        feedback.router,
        rules.router,
        incidents.router,
        deliveries.router,
        filters.router,
        reclassifications.router,
        ledger.router,
        attrsvc.router,
        probes.figures,
    ):
        bounded.include_router(router, dependencies=[Depends(admitted)])
    bounded.include_router(probes.router)
    app.include_router(bounded)
    problems.install(app)
    app.add_middleware(Edge, metrics=metrics)
    _complete_openapi(app)
    return app


def _complete_openapi(app: FastAPI) -> None:
    """Add the forms that routes read or answer by hand, which FastAPI cannot know of."""

    def openapi() -> dict[str, object]:
        if not app.openapi_schema:
            document = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
            )
            _, forms = models_json_schema(
                [
                    (Problem, "serialization"),
                    (DiagnosisRequest, "validation"),
                    (JobExited, "validation"),
                ],
                ref_template="#/components/schemas/{model}",
            )
            document["components"]["schemas"].update(forms["$defs"])
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way
