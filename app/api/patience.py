"""Bounds on how slowly and how largely a request may come in, since a server of sockets has none.

A client that sends a byte now and then holds a connection for ever, and one that never ends its
headers fills the memory. So the head of a request must be whole within a time and a size, and its
body must come at a rate that any line reaches; what an answer takes is not bounded here.
"""

import asyncio
import time
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 20.0
HEAD_BYTES = 64 << 10  # with the longest query that a form allows
BODY_SECONDS = 30.0  # from the head to the end of a small body
BODY_RATE = 1000  # bytes a second that a larger one must reach on the whole


class Guarded(HttpToolsProtocol):
    """One connection, closed when the head of a request is too long in coming or too large."""

    _bytes = 0
    _in_head = True
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own does so
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes before a head is complete."""
        if self._in_head:
            self._bytes += len(data)
            if self._timer is None:  # of a request after the first
                self._await_head()
        super().data_received(data)
        if self._in_head and self._bytes > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large")

    def on_headers_complete(self) -> None:
        """Let the body have its own pace."""
        self._in_head, self._bytes = False, 0
        self._stop_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Expect the head of another request."""
        self._in_head = True
        super().on_message_complete()

    def _await_head(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def hurried(receive: Receive, clock: Callable[[], float] = time.monotonic) -> Receive:
    """Pass a body on; raise HTTPException 408 where it falls behind the slowest rate allowed."""
    began, received, is_whole = clock(), 0, False

    async def receive_in_time() -> Message:
        nonlocal received, is_whole
        if is_whole:  # what is received now is the end of the connection, however late
            return await receive()
        left = began + BODY_SECONDS + received / BODY_RATE - clock()
        if left <= 0:
            raise _too_slow()
        try:
            async with asyncio.timeout(left):
                message = await receive()
        except TimeoutError as error:
            raise _too_slow() from error
        received += len(message.get("body", b""))
        is_whole = not message.get("more_body", False)
        return message

    return receive_in_time


def _too_slow() -> HTTPException:
    return HTTPException(408, f"the body came more slowly than {BODY_RATE} bytes a second")
