"""All that is said for one question: down the ladder, again after a fault, and one repair."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from app.errors import ModelError
from app.reason.budget import Budget
from app.reason.desk import LENGTH, Desk, Heard, Wanted
from app.reason.ladder import Style
from app.reason.question import F, Question
from app.reason.reply import Misfit, read
from app.reason.retry import pause_before
from app.reason.schema import in_words
from app.reason.wire import Turn, WireFault
from app.token_count import tokens

_MOST_SHOWN = 6000  # characters of a reply that is to be repaired
_ASIDE_TOKENS = 300  # for the words of a repair
_MOST_LONGER = 4  # times the usual length of a reply
_OF_FORM = (400, 415, 422, 501)  # what is answered to a request that asks for too much
_SHARES = (1.0, 0.7, 0.45)  # of the room, where the endpoint counts more tokens than we do


@dataclass(frozen=True, slots=True)
class Answer(Generic[F]):
    """A reply that fits its form, and the text that the model was shown for it."""

    reply: F
    shown: str


class Exchange(Generic[F]):
    """One question, put until it is answered."""

    def __init__(
        self,
        desk: Desk,
        question: Question[F],
        budget: Budget,
        temperature: float | None,
        seconds: float,
    ) -> None:
        """Prepare; the time of the question runs from now on."""
        self._desk = desk
        self._question = question
        self._budget = budget
        own = question.prompt.form.budget
        self._temperature = own.temperature if temperature is None else temperature
        self._reply_tokens = own.reply_tokens
        self._end = desk.timing.clock() + seconds

    async def answers(self, count: int, shares: Sequence[float] = _SHARES) -> tuple[Answer[F], ...]:
        """Ask for several answers; give those that fit, at least one, or raise ModelError."""
        share, *smaller = shares
        try:
            return await self._answers(self._turns(share), count)
        except ModelError as error:
            if error.fault != "too_long" or not self._question.fit or not smaller:
                raise
        return await self.answers(count, smaller)

    def _turns(self, share: float) -> tuple[Turn, ...]:
        """Write the question, with room left for the reply and its repair."""
        words = tokens(in_words(self._question.form))
        aside = 2 * (self._reply_tokens + words) + _ASIDE_TOKENS
        messages = self._question.filled(self._desk.endpoint.context_tokens - aside, share)
        return Turn("system", messages.system), Turn("user", messages.prompt)

    async def _answers(self, turns: tuple[Turn, ...], count: int) -> tuple[Answer[F], ...]:
        """Ask once for all answers, and singly for those that the endpoint leaves out."""
        at_once = count if self._desk.ladder.style.many else 1
        first = await self._heard(turns, at_once)
        if len(first) < at_once:
            self._desk.ladder.ignores_many()
        done = await asyncio.gather(
            *(self._settled(turns, heard) for heard in first),
            *(self._single(turns) for _ in range(count - len(first))),
            return_exceptions=True,
        )
        faults = [item for item in done if isinstance(item, BaseException)]
        fitting = tuple(item for item in done if not isinstance(item, BaseException))
        for fault in faults:
            if not fitting or not isinstance(fault, ModelError):
                raise fault
        return fitting

    async def _single(self, turns: tuple[Turn, ...]) -> Answer[F]:
        heard, *_ = await self._heard(turns, 1)
        return await self._settled(turns, heard)

    async def _settled(self, turns: tuple[Turn, ...], heard: Heard[F]) -> Answer[F]:
        """Take what fits; let the model repair once what does not."""
        found = heard.found
        if isinstance(found, Misfit):
            repaired, *_ = await self._heard(self._repairing(turns, heard.text, found), 1)
            found = self._leniently(repaired.found, (repaired.text, heard.text))
        if isinstance(found, Misfit):
            told = f"the reply does not fit its form, also after a repair: {found.told}"
            raise ModelError("invalid", told)
        return Answer(found, turns[-1].text)

    def _leniently(self, found: F | Misfit, texts: Sequence[str]) -> F | Misfit:
        """Take what was said, where only what the lenient form asks nothing of does not fit."""
        form = self._question.lenient
        if form is None or not isinstance(found, Misfit):
            return found
        spared = (read(text, form) for text in texts)
        return next((one for one in spared if not isinstance(one, Misfit)), found)

    def _repairing(self, turns: tuple[Turn, ...], text: str, misfit: Misfit) -> tuple[Turn, ...]:
        ladder = self._desk.ladder
        if not misfit.is_json and ladder.style.rung == "json_schema":
            ladder.lower(ladder.style)  # prose, where a schema was asked for: it is not looked at
        told = f"This reply does not fit: {misfit.told}. {in_words(self._question.form)}"
        return (*turns, Turn("assistant", text[:_MOST_SHOWN]), Turn("user", told))

    async def _heard(self, turns: Sequence[Turn], count: int) -> tuple[Heard[F], ...]:
        """Send until there is an answer; raise ModelError where there is none to be had."""
        desk = self._desk
        began = desk.ladder.style
        reply_tokens = self._reply_tokens
        tries = 0
        while True:
            style = desk.ladder.style
            left = self._end - desk.timing.clock()
            count = count if style.many else 1
            wanted = Wanted(count, reply_tokens, self._temperature, max(left, 0.01))
            try:
                return await desk.send(self._question, turns, wanted, self._budget)
            except WireFault as fault:
                tries += 1
                if fault.param == LENGTH and reply_tokens == self._reply_tokens:
                    reply_tokens = self._longer(turns)
                elif self._goes_down(fault, style, tries):
                    tries = 0
                else:
                    await self._pause(fault, tries, began)

    def _longer(self, turns: Sequence[Turn]) -> int:
        """Say how long a reply may be that was too long: models that think aloud need room."""
        asked = sum(tokens(turn.text) for turn in turns)
        left = self._desk.endpoint.context_tokens - asked - _ASIDE_TOKENS
        return max(2 * self._reply_tokens, min(_MOST_LONGER * self._reply_tokens, left))

    def _goes_down(self, fault: WireFault, style: Style, tries: int) -> bool:
        """Ask otherwise where a request was refused, or broke the server twice."""
        ladder = self._desk.ladder
        if fault.status in _OF_FORM and fault.fault == "rejected":
            return ladder.adapt(style, fault.param, fault.told)
        return fault.fault == "broken" and tries > 1 and ladder.lower(style)

    async def _pause(self, fault: WireFault, tries: int, began: Style) -> None:
        """Wait before the next try, or give up."""
        timing = self._desk.timing
        left = self._end - timing.clock()
        pause = None
        if fault.param != LENGTH:
            pause = pause_before(tries, fault.fault, fault.retry_after, left, timing.chance())
        if pause is None:
            self._desk.ladder.back_to(began)
            endpoint = self._desk.endpoint
            raise ModelError(
                fault.fault, f"{endpoint.model} at {endpoint.place}: {fault.told}"
            ) from fault
        await timing.sleep(pause)
