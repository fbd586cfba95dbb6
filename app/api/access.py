"""Who may call, and how often.

Without tokens the service listens on loopback only, and whoever can log in to the machine may do
all. A page in a browser there must not: so the name that a request was sent to has to be one of
the machine itself, which no page of another site can arrange.
"""

import math
import time

from fastapi import Request
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from app.errors import Forbidden, TooOften, Unauthorized
from app.settings import Settings
from app.tokens import Scope, bearer

_LOCAL = ("localhost", "127.0.0.1", "[::1]")


class Access:
    """The gate of one app."""

    def __init__(self, settings: Settings) -> None:
        self._tokens = settings.tokens
        self._rate = RateLimitItemPerMinute(settings.requests_per_minute)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    async def admit(self, request: Request) -> None:
        """Let a request in that its bearer may make; note who that is.

        Raises Unauthorized, Forbidden or TooOften.
        """
        caller = await self._caller(request)
        request.state.caller = caller
        await self.count(f"token {caller}" if caller else _address(request))

    async def count(self, caller: str) -> None:
        """Raise TooOften where one calls more often than may be."""
        if await self._limiter.hit(self._rate, caller):
            return
        ends, _ = await self._limiter.get_window_stats(self._rate, caller)
        raise TooOften(
            f"more than {self._rate.amount} requests a minute",
            max(math.ceil(ends - time.time()), 1),
        )

    async def _caller(self, request: Request) -> str | None:
        if not self._tokens:
            _check_host(request)
            return None
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        token = bearer(self._tokens, secret.strip()) if kind.lower() == "bearer" else None
        if token is None:
            await self.count(_address(request))
            raise Unauthorized("send an access token as `Authorization: Bearer …`")
        scope = scope_of(request)
        if not token.may(scope):
            raise Forbidden(f"token {token.name} does not have the scope {scope!r}")
        return token.name


def scope_of(request: Request) -> Scope:
    """Say what a request does: reading by its method, the rest by its route."""
    if request.method in ("GET", "HEAD"):
        return "read"
    path = request.scope["route"].path
    if path.endswith("/feedback"):
        return "feedback"
    return "submit" if path in ("/v1/diagnoses", "/logs") else "admin"


async def admitted(request: Request) -> None:
    """Admit a request; for the routers of the app."""
    access: Access = request.app.state.access
    await access.admit(request)


async def counted(request: Request) -> None:
    """Count a request that carries its own proof."""
    access: Access = request.app.state.access
    await access.count(_address(request))


def _check_host(request: Request) -> None:
    host = request.headers.get("host", "")
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    if name.lower() not in _LOCAL:
        raise Forbidden(
            f"sent to {host[:64]!r}: without FIRSTFAULT_TOKENS only requests to localhost are taken"
        )


def _address(request: Request) -> str:
    return f"address {request.client.host if request.client else 'unknown'}"
