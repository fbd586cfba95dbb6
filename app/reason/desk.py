"""What all questions to one endpoint share, and the sending of a single request among them.

Every request waits for a free place, is admitted by the budget, and is recorded however it ends,
also where the deadline cuts it off.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic
from urllib.parse import urlsplit, urlunsplit

from app.reason.budget import Budget, Expected, Prices
from app.reason.call import Call, Outcome, Recorder
from app.reason.completion import Raw, Text
from app.reason.ladder import Ladder, Style
from app.reason.question import F, Question
from app.reason.reply import Misfit, read
from app.reason.retry import Timing
from app.reason.schema import in_words, strict_schema
from app.reason.wire import Request, Turn, Wire, WireFault
from app.token_count import tokens

LENGTH = "length"  # what a reply is blamed for that ends at its last token


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at its place; `seconds` is for one question, with retries and repair.

    Where it `hides_addresses`, IP addresses are masked too in what it is shown.
    """

    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key: str | None = None
    context_tokens: int = 32_768
    seconds: float = 120.0
    parallel: int = 4
    prices: Prices = Prices()
    hides_addresses: bool = False

    @property
    def place(self) -> str:
        """Its URL for people to read: a login or a query in it may be a secret."""
        scheme, netloc, path, *_ = urlsplit(self.base_url)
        return urlunsplit((scheme, netloc.rpartition("@")[2], path, "", ""))


@dataclass(frozen=True, slots=True)
class Heard(Generic[F]):
    """One whole answer: its text, and what it says or why that cannot be read."""

    text: str
    found: F | Misfit


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many answers are wanted, how long and how freely drawn, and within which time."""

    count: int
    reply_tokens: int
    temperature: float
    seconds: float


class Desk:
    """One endpoint, with what is known of it; it belongs to one event loop."""

    def __init__(self, endpoint: Endpoint, record: Recorder, timing: Timing) -> None:
        """Nothing is opened before the first request."""
        self.endpoint = endpoint
        self.timing = timing
        self.ladder = Ladder()
        self.wire = Wire(endpoint.model, endpoint.base_url, endpoint.api_key)
        self._places = asyncio.Semaphore(endpoint.parallel)
        self._record = record

    async def close(self) -> None:
        """Close the connection; the next request opens another one, on whatever loop it runs."""
        await self.wire.close()
        self._places = asyncio.Semaphore(self.endpoint.parallel)

    async def send(
        self, question: Question[F], turns: Sequence[Turn], wanted: Wanted, budget: Budget
    ) -> tuple[Heard[F], ...]:
        """Send one request; give the whole answers, at least one. Raises WireFault, ModelError."""
        style = self.ladder.style
        request = _request(question, turns, style, wanted)
        asked = sum(tokens(turn.text) for turn in request.turns)
        answered = wanted.reply_tokens * wanted.count
        expected = Expected(asked + answered, self.endpoint.prices.cost(asked, answered))
        async with self._places:
            budget.admit(expected, self.timing.now())
            call = self._begun(question, style, budget, asked)
            began = self.timing.clock()
            try:
                raw = await self.wire.send(request, wanted.seconds)
                heard = tuple(_whole(raw.texts[: wanted.count], question))
                call = self._counted(replace(call, outcome=_outcome(raw, heard)), raw)
            except WireFault as fault:
                call = replace(call, outcome=fault.fault)
                raise
            finally:
                call = replace(call, seconds=self.timing.clock() - began)
                budget.book(expected, call)
                self._record(call)
        if not heard:
            raise _unheard(raw.texts[0], wanted)
        if call.outcome == "answered":
            self.ladder.bear(style)
        return heard

    def _begun(self, question: Question[F], style: Style, budget: Budget, asked: int) -> Call:
        """Describe a call that has no answer yet: where it is cut off, it stays like this."""
        return Call(
            at=self.timing.now(),
            purpose=question.purpose,
            prompt=question.prompt.name,
            prompt_version=question.prompt.form.version,
            model=self.endpoint.model,
            rung=style.rung,
            outcome="timeout",
            tokens_in=asked,
            tokens_out=0,
            seconds=0.0,
            cost=self.endpoint.prices.cost(asked, 0),
            diagnosis_id=budget.diagnosis_id,
        )

    def _counted(self, call: Call, raw: Raw) -> Call:
        tokens_in = call.tokens_in if raw.tokens_in is None else raw.tokens_in
        tokens_out = raw.tokens_out
        if tokens_out is None:
            tokens_out = sum(tokens(text.text) for text in raw.texts)
        cost = self.endpoint.prices.cost(tokens_in, tokens_out)
        return replace(call, tokens_in=tokens_in, tokens_out=tokens_out, cost=cost)


def _request(question: Question[F], turns: Sequence[Turn], style: Style, wanted: Wanted) -> Request:
    options: dict[str, object] = {style.length: wanted.reply_tokens}
    if style.temperature:
        options["temperature"] = wanted.temperature
    if wanted.count > 1:
        options["n"] = wanted.count
    first, *rest = turns
    schema = strict_schema(question.form)
    match style.rung:
        case "json_schema":
            form = {"name": question.form.__name__, "schema": schema, "strict": True}
            options["response_format"] = {"type": "json_schema", "json_schema": form}
        case "json_object":
            options["response_format"] = {"type": "json_object", "schema": schema}
    if style.rung != "json_schema":
        first = Turn(first.role, f"{first.text}\n{in_words(question.form)}")
    return Request(question.purpose, (first, *rest), options)


def _whole(texts: Sequence[Text], question: Question[F]) -> Iterator[Heard[F]]:
    """Give the whole answers; one that fits is whole, though its endpoint calls it cut."""
    for text in texts:
        if text.fault in (None, "cut"):
            found = read(text.text, question.form)
            if text.fault is None or not isinstance(found, Misfit):
                yield Heard(text.text, found)


def _outcome(raw: Raw, heard: Sequence[Heard[F]]) -> Outcome:
    if not heard:
        return raw.texts[0].fault or "empty"
    fits = any(not isinstance(item.found, Misfit) for item in heard)
    return "answered" if fits else "invalid"


def _unheard(text: Text, wanted: Wanted) -> WireFault:
    match text.fault:
        case "cut":
            told = f"the reply is longer than the {wanted.reply_tokens} tokens that it may take"
            return WireFault("cut", told, param=LENGTH)
        case "refused":
            return WireFault("refused", f"the model declines: {text.text[:200]}")
        case _:
            return WireFault("empty", "the reply holds no text")
