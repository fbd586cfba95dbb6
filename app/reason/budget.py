"""How many tokens and how much money the questions of one diagnosis, and of a day, may take.

The day's sum is read from the calls that are kept, so it holds over restarts and over all worker
processes. Calls that are under way are counted with what they may take at most; those of other
processes are not known, so a day may end a few calls past its limit.
"""

from dataclasses import dataclass
from typing import Protocol

from app.errors import ModelError
from app.reason.call import Call, DaySpending

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens of one diagnosis, tokens of a day (UTC), cost of a day; 0 is no limit."""

    tokens: int = 0
    day_tokens: int = 0
    day_cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost that are asked, and that are answered."""

    asked: float = 0.0
    answered: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Give the cost of a call."""
        return (tokens_in * self.asked + tokens_out * self.answered) / _MILLION


@dataclass(frozen=True, slots=True)
class Expected:
    """What a call may take at most."""

    tokens: int
    cost: float


class Purse(Protocol):
    """What many diagnoses take from together, in several processes."""

    def draw(self, tokens: int) -> None:
        """Set aside a call of at most so many tokens; raise ModelError where that is too much."""

    def give_back(self, tokens: int) -> None:
        """Return what of it was not taken; less than 0 where more was."""


class Budget:
    """The purse of one diagnosis, with the calls, tokens and cost that went out of it.

    `day` and the `purse` of many diagnoses are asked before each call, so they must be quick.
    """

    def __init__(
        self,
        limits: Limits,
        day: DaySpending,
        *,
        diagnosis_id: str | None = None,
        purse: Purse | None = None,
    ) -> None:
        """Start with nothing spent for the diagnosis."""
        self.diagnosis_id = diagnosis_id
        self.calls = 0
        self.tokens = 0
        self.cost = 0.0
        self._limits = limits
        self._day = day
        self._purse = purse
        self._pending_tokens = 0
        self._pending_cost = 0.0

    def admit(self, expected: Expected, at: float) -> None:
        """Set aside what a call may take; raise ModelError where that is too much."""
        limits = self._limits
        wanted = expected.tokens + self._pending_tokens
        _refuse("a diagnosis", "MODEL_TOKENS", self.tokens, wanted, limits.tokens)
        if limits.day_tokens or limits.day_cost:
            day = self._day(at)
            _refuse("a day", "MODEL_DAY_TOKENS", day.tokens, wanted, limits.day_tokens)
            cost = expected.cost + self._pending_cost
            _refuse("a day", "MODEL_DAY_COST", day.cost, cost, limits.day_cost)
        if self._purse is not None:
            self._purse.draw(expected.tokens)
        self.calls += 1
        self._pending_tokens += expected.tokens
        self._pending_cost += expected.cost

    def book(self, expected: Expected, call: Call) -> None:
        """Replace what was set aside by what the call took."""
        self._pending_tokens -= expected.tokens
        self._pending_cost -= expected.cost
        self.tokens += call.tokens_in + call.tokens_out
        if self._purse is not None:
            self._purse.give_back(expected.tokens - call.tokens_in - call.tokens_out)
        self.cost += call.cost


def _refuse(of: str, setting: str, spent: float, wanted: float, limit: float) -> None:
    if limit and spent + wanted > limit:
        raise ModelError(
            "budget",
            f"{of} may take {limit:g} (FIRSTFAULT_{setting}); {spent:g} are spent, and the next "
            f"question may take {wanted:g}",
        )
