"""What the process that writes a rule is told, and what it says when nothing came of it.

Light, since the web process imports it; what reads logs and asks is imported by the other one.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from app.store.proposals import Written
from app.work.asking import Asking

_NICENESS = 15


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a run finds rules, logs, fixtures and a model; `needed` failures must be alike."""

    rules: Path
    learned: Path
    cache: Path
    fixtures: Path
    database: str
    uploads: Path
    roots: tuple[Path | str, ...]
    asking: Asking
    needed: int = 1


@dataclass(frozen=True, slots=True)
class Later:
    """Nothing came of it now, and something may later."""

    why: str


def set_up() -> None:
    """Prepare a process: whoever waits for an answer goes first."""
    os.nice(_NICENESS)


def write(feedback_id: int, where: Surroundings) -> Written | Later | str:
    """Write and try a signal for the failure that a person spoke of; else say why there is none."""
    from app.learn import writing

    return writing.write(feedback_id, where)
