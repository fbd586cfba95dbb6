"""The outermost layer: a request id, secure headers, one log line, and no error that escapes."""

import re
import time
import uuid

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import problems
from app.api.document import MAX_JSON_BYTES
from app.api.metrics import Metrics
from app.api.patience import hurried

_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET = ("/healthz", "/readyz", "/metrics")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_NOTHING = "default-src 'none'; frame-ancestors 'none'"
_DOCS = (  # the page of Swagger UI starts itself with an inline script
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; object-src 'none'"
)

log = structlog.get_logger()


class _RefusedByFramework(Exception):  # noqa: N818  it is no error of ours
    """The framework begins to refuse the length of a body in words of its own."""


class Edge:
    """ASGI middleware round the whole app."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        scope["request_id"] = request_id
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        began = time.perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if message["status"] == 413 and headers.get("content-type", "").startswith("text/"):
                    raise _RefusedByFramework
                status = message["status"]
                _add_headers(headers, scope["path"], request_id)
            await send(message)

        try:
            await self._app(scope, hurried(receive), send_with_headers)
        except _RefusedByFramework:
            response = problems.respond(
                413,
                f"the body is larger than {MAX_JSON_BYTES} bytes",
                path=scope["path"],
                request_id=request_id,
            )
            await response(scope, receive, send_with_headers)
        except ClientDisconnect:
            status = 499  # as nginx writes it: nobody is left to be answered
        except Exception:  # noqa: BLE001  the edge of HTTP, where what nobody expected is answered
            log.exception("request failed", path=scope["path"])
            if status:
                raise
            response = problems.respond(
                500,
                "an error that nobody expected; the service logs it under the request id",
                path=scope["path"],
                request_id=request_id,
            )
            await response(scope, receive, send_with_headers)
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        path, method = scope["path"], scope["method"]
        route = getattr(scope.get("route"), "path", "other")
        self._metrics.count(method if route != "other" else "other", route, status, seconds)
        if path not in _QUIET:
            log.info(
                "request", method=method, path=path, status=status, ms=round(seconds * 1000, 1)
            )


def _request_id(scope: Scope) -> str:
    """Take the caller's id where it gave a harmless one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            given = value.decode("latin-1")
            if _GIVEN_ID.fullmatch(given):
                return str(given)
    return uuid.uuid4().hex


def _add_headers(headers: MutableHeaders, path: str, request_id: str) -> None:
    headers["X-Request-ID"] = request_id
    for name, value in _HEADERS.items():
        headers[name] = value
    docs = path == "/docs" or path.startswith("/static-offline-docs")
    headers["Content-Security-Policy"] = _DOCS if docs else _NOTHING
    if not docs:
        headers.setdefault("Cache-Control", "no-store")
