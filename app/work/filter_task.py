"""What the writer of filters is told, and what it tells; light, since the service imports it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Task:
    """What to write, and with whose help; `writing` counts those of the type before it."""

    job_type: str
    writing: int
    database: str
    rules: str
    learned: str
    prompts: str
    fixtures: str
    model: str
    base_url: str
    api_key: str | None
    context_tokens: int
    seconds: float
    parallel: int
    prices: tuple[float, float]
    hides_addresses: bool
    tokens: int
    day_tokens: int
    day_cost: float
    answers: int


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a writing: names of filters, how many were refused with the first reasons."""

    kept: tuple[str, ...] = ()
    refused: int = 0
    reasons: tuple[str, ...] = ()
    fault: str | None = None
