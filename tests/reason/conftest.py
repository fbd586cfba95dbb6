from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from app.masking import Masks
from app.reason.budget import Budget, Limits
from app.reason.call import Call, Spending
from app.reason.client import Client
from app.reason.desk import Endpoint
from app.reason.fake import FakeModel
from app.reason.forms import OpinionReply, opinion_among
from app.reason.prompt import Trusted
from app.reason.question import Fit, Question
from app.reason.retry import Timing
from app.reason.script import Script
from tests.reason.test_prompt import SHIPPED

GOOD = {
    "quotes": [{"file": None, "line": 7, "text": "boom"}],
    "against": "nothing",
    "cause": "ECCError",
    "confidence": "likely",
    "more": None,
}


def question(
    *, digest: str = "7: boom", fit: Fit | None = None, purpose: str = "name the cause"
) -> Question[OpinionReply]:
    values = {
        "causes": Trusted("ECCError: memory"),
        "findings": "none",
        "precedents": "none",
        "more": Trusted("nothing"),
    }
    if fit is None:
        values["digest"] = digest
    form = opinion_among(["ECCError", "Unknown"])
    return Question(purpose, SHIPPED["failure_agent"], form, values, Masks(), fit)


def purse(limits: Limits = Limits(), spent: Spending = Spending()) -> Budget:  # noqa: B008
    return Budget(limits, lambda _: spent, diagnosis_id="dg_1")


@dataclass
class Setting:
    """A client before a fake model, and what happened."""

    fake: FakeModel
    client: Client
    calls: list[Call]
    slept: list[float] = field(default_factory=list)

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(call.rung, call.outcome) for call in self.calls]


Stage = Callable[..., Setting]


@pytest.fixture
def stage() -> Iterator[Stage]:
    with ExitStack() as opened:

        def play(script: dict[str, object], **endpoint: object) -> Setting:
            fake = opened.enter_context(FakeModel(Script.model_validate(script)))
            calls: list[Call] = []
            slept: list[float] = []

            async def sleep(seconds: float) -> None:
                slept.append(seconds)

            timing = Timing(now=lambda: 1_790_000_000.0, sleep=sleep, chance=lambda: 0.5)
            chosen = {"model": "fake", "base_url": fake.url, "seconds": 30.0, **endpoint}
            client = Client(Endpoint(**chosen), calls.append, timing)
            opened.callback(client.close)
            return Setting(fake, client, calls, slept)

        yield play
