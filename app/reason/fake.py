"""A model that says what a script tells it to: a real server on a real port.

It speaks OpenAI's chat completions, whole and as a stream, and fails in all the ways in which
endpoints do, so that tests and first trials need neither a key nor a network. What it was asked
last is kept, and told at `/asked`.
"""

import asyncio
import json
import socket
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from app.errors import UsageError
from app.reason.script import Line, Playing, Script, Within

_TICK = 0.02  # seconds between looks at whether somebody still waits
_PIECE = 16  # characters of a reply that a stream sends at once
_MOST_KEPT = 1000  # questions
_MOST_ANSWERS = 128  # to one question, as with OpenAI


@dataclass(frozen=True, slots=True)
class Asked:
    """One question that came in."""

    purpose: str
    body: Mapping[str, object]

    @property
    def text(self) -> str:
        """All that was said."""
        messages = self.body.get("messages")
        parts = messages if isinstance(messages, list) else []
        return "\n".join(str(part.get("content", "")) for part in parts if isinstance(part, dict))

    @property
    def count(self) -> int:
        """How many answers are asked for."""
        wanted = self.body.get("n")
        return wanted if isinstance(wanted, int) else 1

    @property
    def rung(self) -> str:
        """The kind of reply that is asked for."""
        asked = self.body.get("response_format")
        return str(asked.get("type")) if isinstance(asked, dict) else "plain"


class FakeModel:
    """The fake; in a `with` block it serves on a thread of its own, at `url`."""

    def __init__(self, script: Script, port: int = 0) -> None:
        """Take a port, 0 for a free one; raise UsageError where it is taken."""
        self.asked: deque[Asked] = deque(maxlen=_MOST_KEPT)
        self._playing = Playing(script)
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind(("127.0.0.1", port))
        except OSError as error:
            self._listener.close()
            raise UsageError(f"cannot listen on port {port}: {error.strerror}") from error
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        routes = [
            Route("/v1/chat/completions", self._complete, methods=["POST"]),
            Route("/v1/models", self._models),
            Route("/asked", self._tell),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes), log_config=None, access_log=False, timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)

    def __enter__(self) -> "FakeModel":
        """Serve until the block ends."""
        self._thread = threading.Thread(target=self.serve, name="fake model", daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(_TICK)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving."""
        self._server.should_exit = True
        self._thread.join(5)

    def serve(self) -> None:
        """Serve on this thread until told to stop."""
        with self._listener:
            self._server.run(sockets=[self._listener])

    async def _models(self, _: Request) -> Response:
        model = {"id": self._playing.script.model, "object": "model", "owned_by": "firstfault"}
        return JSONResponse({"object": "list", "data": [model]})

    async def _tell(self, _: Request) -> Response:
        return JSONResponse([{"purpose": asked.purpose, **asked.body} for asked in self.asked])

    async def _complete(self, request: Request) -> Response:
        body = _body(await request.body())
        if isinstance(body, _Fault):
            return _failure(400, body.told, body.param, None)
        asked = Asked(request.headers.get("x-firstfault-purpose", ""), body)
        self.asked.append(asked)
        script = self._playing.script
        refusal = script.refuses.get(asked.rung)  # type: ignore[call-overload]
        if refusal:
            told = f"response_format {asked.rung} is not supported"
            return _failure(refusal, told, "response_format", None)
        if script.context_tokens and len(asked.text) // 3 > script.context_tokens:
            return _failure(400, "too long", "messages", "context_length_exceeded")
        line = self._playing.line(asked.purpose, asked.text)
        if line is None:
            return _failure(404, "the script has no answer to this", None, None)
        await _hang(request, line.hang)
        if line.status:
            after = {} if line.retry_after is None else {"retry-after": str(line.retry_after)}
            return _failure(line.status, line.message, line.param, line.code, after)
        if line.body is not None:
            return Response(line.body, media_type="text/html")
        return self._answer(asked, line)

    def _answer(self, asked: Asked, line: Line) -> Response:
        count = 1 if self._playing.script.ignores_n else asked.count
        replies = self._playing.replies(line, count)
        if asked.body.get("stream"):
            return _stream(line, replies[0])
        body: dict[str, object] = {
            "id": "chatcmpl-fake",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self._playing.script.model,
            "choices": [_choice(index, reply, line) for index, reply in enumerate(replies)],
        }
        if self._playing.script.counts_tokens:
            tokens_in, tokens_out = len(asked.text) // 4, sum(map(len, replies)) // 4
            body["usage"] = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
        data = json.dumps(body).encode()
        if line.ends == "cut":
            return _Cut(data)
        if line.drip:
            return StreamingResponse(_drip(data, line.drip), media_type="application/json")
        return Response(data, media_type="application/json")


class _Cut(Response):
    """A response whose connection closes in the middle of it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        half = bytes(self.body)[: len(self.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why a body is no question, and the parameter to blame."""

    told: str
    param: str | None = None


def _body(data: bytes) -> Mapping[str, object] | _Fault:
    """Read what was sent."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        return _Fault(f"the body is no JSON: {error}")
    if not isinstance(body, dict):
        return _Fault("the body is no JSON object")
    count = body.get("n")
    whole = isinstance(count, int) and not isinstance(count, bool)
    if count is not None and not (whole and 1 <= count <= _MOST_ANSWERS):
        return _Fault(f"n must be a whole number from 1 to {_MOST_ANSWERS}", "n")
    return body


def _choice(index: int, reply: str, line: Line) -> dict[str, object]:
    message = {"role": "assistant", "refusal": line.refusal, **_placed(reply, line.within)}
    return {"index": index, "message": message, "finish_reason": line.ends}


def _placed(reply: str, within: Within) -> dict[str, object]:
    """Put a reply where some servers put it."""
    match within:
        case "parts":
            half = len(reply) // 2
            parts = [{"type": "text", "text": part} for part in (reply[:half], reply[half:])]
            return {"content": [{"type": "thinking", "thinking": "hm"}, *parts]}
        case "arguments":
            called = {"name": "answer", "arguments": reply}
            tools = [{"id": "call_1", "type": "function", "function": called}]
            return {"content": None, "tool_calls": tools}
        case "content":
            return {"content": reply}
        case _:
            return {"content": "", within: reply}


def _failure(
    status: int,
    message: str,
    param: str | None,
    code: str | None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    error = {"message": message, "type": "fake_error", "param": param, "code": code}
    return JSONResponse({"error": error}, status, dict(headers or {}))


def _stream(line: Line, reply: str) -> Response:
    pieces = [reply[at : at + _PIECE] for at in range(0, len(reply), _PIECE)]
    chunks = [_chunk({"content": piece}, None) for piece in pieces]
    whole = "".join((*chunks, _chunk({}, line.ends), "data: [DONE]\n\n")).encode()
    if line.ends == "cut":
        return _Cut(whole, media_type="text/event-stream")
    return Response(whole, media_type="text/event-stream")


def _chunk(delta: Mapping[str, str], reason: str | None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    body = {"id": "chatcmpl-fake", "object": "chat.completion.chunk", "choices": [choice]}
    return f"data: {json.dumps(body)}\n\n"


async def _drip(data: bytes, seconds: float) -> AsyncIterator[bytes]:
    for byte in data:
        yield bytes([byte])
        await asyncio.sleep(seconds)


async def _hang(request: Request, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not await request.is_disconnected():
        await asyncio.sleep(_TICK)
