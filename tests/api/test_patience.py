"""Clients that send slowly or without an end, over real connections."""

import asyncio
import contextlib
import socket
import threading
import time

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from app.api import patience
from app.api.patience import Guarded, hurried


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


@pytest.fixture
def address(monkeypatch):
    """A server that waits half a second for a head."""
    monkeypatch.setattr(patience, "HEAD_SECONDS", 0.5)
    listener = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/", echo, methods=["POST"])])
    config = uvicorn.Config(app, http=Guarded, ws="none", log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    yield listener.getsockname()
    server.should_exit = True
    thread.join(10)
    listener.close()


def answer_to(address, *pieces: bytes, pause: float = 0.0) -> bytes:
    """Send pieces; give all that comes back until the server hangs up, at most 5 seconds."""
    said = b""
    line = socket.create_connection(address, timeout=5)
    with line, contextlib.suppress(ConnectionError):
        for piece in pieces:
            line.sendall(piece)
            time.sleep(pause)
        while part := line.recv(4096):
            said += part
    return said


def test_a_connection_that_says_nothing_is_closed(address):
    began = time.monotonic()
    assert answer_to(address) == b""
    assert 0.3 < time.monotonic() - began < 4


def test_a_head_that_comes_byte_by_byte_is_cut_off(address):
    assert answer_to(address, *[b"P", b"O", b"S", b"T", b" ", b"/", b" "], pause=0.1) == b""


def test_a_second_request_on_the_line_must_be_whole_as_well(address):
    first = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"
    said = answer_to(address, first, b"POST / HT")
    assert said.count(b"200 OK") == 1
    assert said.endswith(b"2")


def test_a_head_without_an_end_is_refused_before_it_fills_the_memory(address):
    lines = [b"x-%d: %s\r\n" % (number, b"a" * 1000) for number in range(2000)]
    said = answer_to(address, b"POST / HTTP/1.1\r\n", *lines)
    assert said.startswith(b"HTTP/1.1 400") or said == b""  # it may hang up while we send


def test_a_large_body_beside_its_head_is_taken(address):
    body = b"b" * 200_000
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n"
    assert answer_to(address, head + body).endswith(b"200000")


class Line:
    """A body of pieces, each of which comes after a time by a clock of its own."""

    def __init__(self, *pieces: tuple[float, int]) -> None:
        self.now = 0.0
        self._pieces = list(pieces)

    async def receive(self):
        seconds, size = self._pieces.pop(0)
        self.now += seconds
        return {"type": "http.request", "body": bytes(size), "more_body": bool(self._pieces)}


def taken(line: Line) -> int:
    async def story():
        receive, total = hurried(line.receive, lambda: line.now), 0
        while True:
            message = await receive()
            total += len(message["body"])
            if not message["more_body"]:
                return total

    return asyncio.run(story())


def test_a_body_at_the_slowest_rate_is_taken_however_long_it_is():
    assert taken(Line(*[(1.0, 1200)] * 500)) == 600_000


def test_a_body_that_trickles_is_given_up():
    with pytest.raises(HTTPException) as caught:
        taken(Line(*[(1.0, 1)] * 500))
    assert caught.value.status_code == 408


def test_a_body_that_stops_is_given_up(monkeypatch):
    monkeypatch.setattr(patience, "BODY_SECONDS", 0.1)

    async def never():
        await asyncio.sleep(60)

    with pytest.raises(HTTPException, match="408"):
        asyncio.run(hurried(never)())
