"""What a process of a reclassification is told: where it finds things, and its part of the work.

Light, since the web process imports it; what judges is imported by the processes themselves.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

from app.work.asking import Asking
from app.work.objects import ObjectStore


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a process finds rules, database and logs, and which model it asks.

    `edition` is the fingerprint of the rules that are meant. A log is given `log_seconds` at most
    to be found and copied, and as many to be judged. What holds a password or a key is left out of
    the text of it, since a cluster prints what a task was given when it fails.
    """

    database: str = field(repr=False)
    rules: Path
    learned: Path
    edition: str
    cache: Path
    uploads: Path
    roots: tuple[Path | str, ...]
    max_log_bytes: int
    digest_tokens: int
    log_seconds: float = 900.0
    store: ObjectStore | None = None
    asking: Asking | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Part:
    """Some of what a run is about, in order: ids of diagnoses, or names of logs and their `places`.

    It may end with any log after which so many bytes were read or seconds went by that it is
    `enough` for one chunk. Logs that a request named must lie `within_roots`.
    """

    run: str
    subjects: tuple[str, ...]
    applies: bool = False
    places: tuple[str, ...] | None = None
    within_roots: bool = True
    enough_bytes: int = 256 << 20
    enough_seconds: float = 20.0

    def between(self, start: int, end: int | None = None) -> "Part":
        """Give a piece of it."""
        places = self.places[start:end] if self.places is not None else None
        return replace(self, subjects=self.subjects[start:end], places=places)
