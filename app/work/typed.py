"""Read a log with the filters of its type of job, and tell what it says of that type."""

from collections.abc import Sequence
from pathlib import Path

from app.compress.volume import volume
from app.model import Compressed
from app.recognise import outline_of
from app.rulebook.compiled import Compiled
from app.written import JobType, Seen, fitting

_BYTES_PER_TOKEN = 3


class Typed:
    """One log and its type; `compiled` holds the filters that it is read with.

    A log that cannot be over its budget is left alone: filters would change nothing in it.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        text_bytes: int,
        given: str | None,
        types: Sequence[JobType],
        compiled: Compiled,
        budget_tokens: int,
    ) -> None:
        self.compiled = compiled
        self._given = given
        self._budget = budget_tokens
        self._is_small = text_bytes <= budget_tokens * _BYTES_PER_TOKEN
        self._outline = frozenset[int]() if self._is_small else outline_of(paths)
        found = None if self._is_small else fitting(given, self._outline, types)
        self._applied = found.name if found else None
        if found and found.routines:
            self.compiled = compiled.with_written(found.routines)

    def seen(self, log: Compressed) -> Seen | None:
        """Say what the log tells, once it is read."""
        if self._is_small:
            return None
        return Seen(self._given, self._outline, volume(log, self._budget), self._applied)
