"""One request to a chat endpoint, by openai's client; what can go wrong has one name each.

The client's own retries are off: who asks knows the budget, the deadline and the ladder, and keeps
every single call. What comes back is read by `completion`. openai is imported late: it takes half a
second, and most diagnoses ask nobody. Proxies that the environment names are used, but never for
this machine itself: the log stays on it where the model does.
"""

import email.utils
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from app.errors import ModelFault
from app.reason.completion import Raw, read

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI
    from openai.types.chat import ChatCompletionMessageParam

_CONNECT_SECONDS = 10.0
_PURPOSE = "x-firstfault-purpose"
_HERE = ("localhost", "127.0.0.1", "[::1]")
_OF_STATUS: Mapping[int, ModelFault] = {
    401: "denied", 403: "denied", 408: "broken", 409: "broken", 413: "too_long", 425: "broken",
    429: "rate_limited", 501: "rejected",
}  # fmt: skip
_TOO_LONG = (
    "context_length",
    "context length",
    "context size",
    "context window",
    "too many tokens",
)


@dataclass(frozen=True, slots=True)
class Turn:
    """What is said to the model, oldest first."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """One request; `options` are further fields of its body."""

    purpose: str
    turns: Sequence[Turn]
    options: Mapping[str, object] = field(default_factory=dict)


class WireFault(Exception):
    """A request that failed; `param` is what the endpoint blames."""

    def __init__(
        self,
        fault: ModelFault,
        told: str,
        *,
        status: int | None = None,
        param: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(told)
        self.fault = fault
        self.told = told
        self.status = status
        self.param = param
        self.retry_after = retry_after


class Wire:
    """A connection to one endpoint; it belongs to one event loop."""

    def __init__(self, model: str, base_url: str, api_key: str | None) -> None:
        """Nothing is opened before the first request."""
        self._model = model
        self._base_url = base_url
        self._api_key = api_key
        self._client: AsyncOpenAI | None = None

    async def send(self, request: Request, seconds: float) -> Raw:
        """Send a request and wait so many seconds for the whole answer; raise WireFault."""
        import openai

        client = self._opened()
        try:
            response = await client.chat.completions.with_raw_response.create(
                model=self._model,
                messages=_messages(request.turns),
                extra_body=dict(request.options),
                extra_headers={_PURPOSE: request.purpose},
                timeout=openai.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds)),
            )
        except openai.APITimeoutError as error:
            raise WireFault("timeout", f"no answer within {seconds:.1f} seconds") from error
        except openai.APIConnectionError as error:
            raise _unconnected(error) from error
        except openai.APIStatusError as error:
            raise _refused(error) from error
        except openai.OpenAIError as error:
            raise WireFault("rejected", str(error)) from error
        return _read(response.content)

    async def close(self) -> None:
        """Close what is open."""
        client, self._client = self._client, None
        if client:
            await client.close()

    def _opened(self) -> "AsyncOpenAI":
        if self._client is None:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient

            key = self._api_key or "none"  # the client wants one, local servers do not
            without_proxy = DefaultAsyncHttpxClient(mounts={f"all://{h}": None for h in _HERE})
            self._client = AsyncOpenAI(
                base_url=self._base_url, api_key=key, max_retries=0, http_client=without_proxy
            )
        return self._client


def _messages(turns: Sequence[Turn]) -> "list[ChatCompletionMessageParam]":
    written: list[ChatCompletionMessageParam] = []
    for turn in turns:
        match turn.role:
            case "system":
                written.append({"role": "system", "content": turn.text})
            case "user":
                written.append({"role": "user", "content": turn.text})
            case "assistant":
                written.append({"role": "assistant", "content": turn.text})
    return written


def _read(body: bytes) -> Raw:
    try:
        return read(body)
    except ValueError as error:
        told = f"the endpoint answered with no chat completion: {_start(body)!r}"
        raise WireFault("broken", told) from error


def _unconnected(error: Exception) -> WireFault:
    cause = error.__cause__
    told = f"{type(cause).__name__}: {cause}" if cause else str(error)
    # peer closed connection without sending complete message body (incomplete chunked read)
    broke_off = "without sending complete" in told or "ReadError" in told
    return WireFault("cut" if broke_off else "unreachable", told)


def _refused(error: "APIStatusError") -> WireFault:
    status = error.status_code
    told = f"HTTP {status}: {error.message[:500]}"
    if status == 404:
        told = f"{told} (no such model, or no such path: a base URL mostly ends in /v1)"
    fault = _OF_STATUS.get(status, "broken" if status >= 500 else "rejected")
    said = f"{error.code} {error.message}".lower()
    if status in (400, 422, 500) and any(words in said for words in _TOO_LONG):
        fault = "too_long"
    elif error.code == "content_filter":
        fault = "refused"
    elif error.code == "insufficient_quota":
        fault = "denied"
    headers = error.response.headers
    after = _seconds(headers.get("retry-after-ms"), headers.get("retry-after"))
    return WireFault(fault, told, status=status, param=error.param, retry_after=after)


def _seconds(milliseconds: str | None, written: str | None) -> float | None:
    """Read how long to wait: in milliseconds, in seconds, or until a date; None is neither."""
    try:
        if milliseconds:
            return float(milliseconds) / 1000
        if date := email.utils.parsedate_tz(written or ""):
            return max(0.0, email.utils.mktime_tz(date) - time.time())
        return float(written) if written else None
    except (ValueError, OverflowError):
        return None


def _start(body: bytes) -> str:
    return body[:300].decode("utf-8", "replace")
