"""Every error as RFC 9457 problem details."""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path

from app.errors import Busy, FirstFaultError, SourceGone, StoreError, TooOften, Unauthorized
from app.service import Service

MEDIA_TYPE = "application/problem+json"
_UNREAD = (408, 413)  # a body is still to come, which nobody will read
_HANG_UP = {"Connection": "close"}


class FieldError(BaseModel):
    """What is wrong with one part of a request."""

    field: str = Field(description="such as `body.log.uri` or `query.limit`")
    detail: str


class Problem(BaseModel):
    """What went wrong, and where a person may go on."""

    type: str = Field(description="`about:blank`, or a name of this kind of problem")
    title: str
    status: int
    detail: str | None = None
    instance: str | None = Field(default=None, description="the path that was asked for")
    request_id: str | None = Field(default=None, description="under this the service logs it")
    errors: tuple[FieldError, ...] | None = None


class Unsupported(HTTPException):
    """A body of a kind that is not taken."""

    def __init__(self, detail: str) -> None:
        super().__init__(415, detail)


def respond(
    status: int,
    detail: str | None,
    *,
    kind: str | None = None,
    path: str,
    request_id: str | None = None,
    errors: Sequence[FieldError] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Make the response for a problem; `kind` is the class of one of our errors."""
    body = Problem(
        type=f"urn:firstfault:problem:{_dashed(kind)}" if kind else "about:blank",
        title=_words(kind) if kind else HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        instance=path,
        request_id=request_id,
        errors=tuple(errors) if errors else None,
    )
    text = body.model_dump_json(exclude_none=True)
    told = {**(headers or {}), **(_HANG_UP if status in _UNREAD else {})}
    return Response(text, status, headers=told, media_type=MEDIA_TYPE)


def declared(*statuses: int) -> dict[int | str, dict[str, object]]:
    """Declare for the OpenAPI document which problems a route may answer."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": schema}},
        }
        for status in statuses
    }


def install(app: FastAPI) -> None:
    """Answer all that can go wrong inside of a route with problem details."""

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, FirstFaultError)
        headers = {}
        if isinstance(error, Busy):
            service: Service = request.app.state.service
            headers["Retry-After"] = str(service.crew.retry_after)
        elif isinstance(error, TooOften):
            headers["Retry-After"] = str(error.retry_after)
        elif isinstance(error, StoreError | SourceGone):
            headers["Retry-After"] = "10"
        elif isinstance(error, Unauthorized):
            headers["WWW-Authenticate"] = "Bearer"
        return _of(request, error.status, str(error), kind=type(error).__name__, headers=headers)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = [
            FieldError(field=".".join(map(str, item["loc"])), detail=item["msg"])
            for item in error.errors()
        ]
        if any(item["type"] == "json_invalid" for item in error.errors()):
            return _of(request, 400, f"the body is not JSON: {found[0].detail}")
        return _of(request, 422, "the request does not fit its form", errors=found)

    async def by_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        headers = dict(error.headers or {})
        if error.status_code == 405:
            headers["Allow"] = _methods(request) or headers.get("Allow", "")
        return _of(request, error.status_code, _detail(request, error), headers=headers)

    app.add_exception_handler(FirstFaultError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, by_http)


def _of(
    request: Request,
    status: int,
    detail: str | None,
    *,
    kind: str | None = None,
    errors: Sequence[FieldError] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    return respond(
        status,
        detail,
        kind=kind,
        path=request.url.path,
        request_id=request.scope.get("request_id"),
        errors=errors,
        headers=headers,
    )


def _detail(request: Request, error: HTTPException) -> str:
    if error.detail != HTTPStatus(error.status_code).phrase:
        return error.detail
    if error.status_code == 404:
        return f"there is nothing at {request.url.path}; see /docs"
    if error.status_code == 405:
        return f"{request.method} is not for {request.url.path}"
    return error.detail


def _methods(request: Request) -> str:
    """All methods of a path; FastAPI names those of the first route alone."""
    for path, operations in request.app.openapi()["paths"].items():
        pattern, _, _ = compile_path(path)
        if pattern.fullmatch(request.url.path):
            return ", ".join(sorted(method.upper() for method in operations))
    return ""


def _words(kind: str) -> str:
    """Read `SourceTooLarge` as `Source too large`."""
    return _dashed(kind).replace("-", " ").capitalize()


def _dashed(kind: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower()
