"""One request to a model, as it is kept: what it was for, what it took, how it went."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from app.errors import ModelFault

Rung = Literal["json_schema", "json_object", "plain"]
Outcome = ModelFault | Literal["answered"]


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was sent; a question may take several, for retries, repair and votes.

    `at` is when it was sent. Tokens are what the endpoint counted, or our estimate where it told
    nothing; `cost` is in the money of the prices. An answer that does not fit its form is
    `invalid`, though its repair may have succeeded in the next call.
    """

    at: float
    purpose: str
    prompt: str
    prompt_version: int
    model: str
    rung: Rung
    outcome: Outcome
    tokens_in: int
    tokens_out: int
    seconds: float
    cost: float
    diagnosis_id: str | None = None


@dataclass(frozen=True, slots=True)
class Spending:
    """What calls took together."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


Recorder = Callable[[Call], None]
"""Keeps a call; it must not fail."""

DaySpending = Callable[[float], Spending]
"""Tells what was spent in the day (UTC) of a time, from the calls that are kept."""
