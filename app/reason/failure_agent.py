"""Ask a model for the cause of a failure, and give it one further look into the log.

The question is answered within the time that the endpoint is given, both looks together: a model
that asks for more and then fails is taken at its first word.
"""

import contextlib
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from app.errors import ModelError
from app.masking import Masks
from app.reason.budget import Budget, Limits, Purse
from app.reason.call import DaySpending
from app.reason.client import Client
from app.reason.forms import More, OpinionReply, opinion_among
from app.reason.prompt import Prompts, Trusted
from app.reason.question import Fit, Question

PURPOSE, AGAIN = "name the cause", "name the cause, second look"
_NOTHING = "(nothing was asked for yet)"
_LEAST_SECONDS = 5.0  # for a second look


@dataclass(frozen=True, slots=True)
class Matter:
    """What a model is told of one failure; `digest` writes a text of at most so many tokens.

    `look` gives the text of what the model wants to see in addition, bounded by who gives it.
    """

    causes: str
    names: Collection[str]
    findings: str
    precedents: str
    digest: Callable[[int], str]
    look: Callable[[More], str]
    digest_tokens: int


@dataclass(frozen=True, slots=True)
class Heard:
    """The answer of a model; `restore` puts back what was masked, `tokens` is what it took."""

    reply: OpinionReply
    restore: Callable[[str], str]
    tokens: int


class FailureAgent:
    """Asks one endpoint; it may be used for one failure after the other."""

    def __init__(
        self,
        client: Client,
        prompts: Prompts,
        limits: Limits,
        day: DaySpending,
        purse: Purse | None = None,
    ) -> None:
        """`day` tells what was spent today, where a day has a limit; `purse` is that of a run."""
        self._client = client
        self._prompt = prompts["failure_agent"]
        self._limits = limits
        self._day = day
        self._purse = purse
        self.prompts = prompts.fingerprint

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._client.endpoint.model

    @property
    def context_tokens(self) -> int:
        """How much one question and its answer may hold."""
        return self._client.endpoint.context_tokens

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def ask(self, matter: Matter, diagnosis_id: str | None = None) -> Heard:
        """Get an answer; raise ModelError where there is none."""
        masks = self._client.masks()
        budget = Budget(self._limits, self._day, diagnosis_id=diagnosis_id, purse=self._purse)
        end = time.monotonic() + self._client.endpoint.seconds
        reply = self._client.ask(self._question(matter, masks), budget).reply
        left = end - time.monotonic()
        if reply.more is not None and left > _LEAST_SECONDS:
            question = self._question(matter, masks, matter.look(reply.more))
            with contextlib.suppress(ModelError):  # its first answer was its best without a look
                reply = self._client.ask(question, budget, left).reply
        return Heard(reply, masks.restore, budget.tokens)

    def _question(
        self, matter: Matter, masks: Masks, more: str | None = None
    ) -> Question[OpinionReply]:
        return Question(
            purpose=PURPOSE if more is None else AGAIN,
            prompt=self._prompt,
            form=opinion_among(matter.names, last=more is not None),
            values={
                "causes": Trusted(matter.causes),
                "findings": matter.findings,
                "precedents": matter.precedents,
                "more": Trusted(_NOTHING) if more is None else more,
            },
            masks=masks,
            lenient=opinion_among(matter.names, last=True),  # a wish that cannot be met is dropped
            fit=Fit("digest", lambda room: matter.digest(min(room, matter.digest_tokens))),
        )
