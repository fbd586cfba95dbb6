"""What the writer of filters is told, and what it tells."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from app.work.asking import Asking


@dataclass(frozen=True, slots=True)
class Task:
    """What to write, and with whose help; `writing` counts those of the type before it."""

    job_type: str
    writing: int
    asking: Asking
    database: str
    rules: Path
    learned: Path
    fixtures: Path
    answers: int


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a writing: names of filters, how many were refused with the first reasons."""

    kept: tuple[str, ...] = ()
    refused: int = 0
    reasons: tuple[str, ...] = ()
    fault: str | None = None


TASK = TypeAdapter(Task)
REPORT = TypeAdapter(Report)
