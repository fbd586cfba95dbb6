"""How much text of a log is kept: so many lines of each sort, so many bytes in all.

A probe is worn out when its first hits are kept: a million lines of one story are not worth a
second one. What is rare, the first hits of each probe and the first traceback of each kind, has a
reserve, so that a log which is loud at its beginning cannot silence what comes later.
"""

from collections import Counter

import numpy as np
import numpy.typing as npt

from app.compress.scan import Ints

MAX_LINES = 60_000
MAX_BYTES = 10 << 20
RESERVE_BYTES = 3 << 20
PER_PROBE = 4096  # more than the ranks of nearly all jobs, so that one missing rank shows
TRACE_LINES = 20_000
PLAIN_LINES = 6_000
RARE = 32  # hits of a probe
LATE_BYTES = 3 << 20
_LINE = 100  # bytes that a line takes beside its text
_HEAD, _TAIL = 40, 200
_HEADS, _TAILS = 5_000, 20_000  # lines, for jobs with many files


class Budget:
    """What may still be kept of a log; its files share it."""

    def __init__(self, trace_probes: int, files: int) -> None:
        self.counts: Counter[int] = Counter()
        self.head = max(1, min(_HEAD, _HEADS // files))
        self.tail = max(1, min(_TAIL, _TAILS // files))
        self.late_bytes = LATE_BYTES // files
        self._trace_probes = trace_probes
        self._traced = 0
        self._kept_of: Counter[int] = Counter()
        self._plain = 0
        self._lines = 0
        self._bytes = 0
        self._reserve = RESERVE_BYTES

    @property
    def is_spent(self) -> bool:
        """Say whether only what is rare and the end of files may be kept any more."""
        return self._lines >= MAX_LINES or self._bytes >= MAX_BYTES

    @property
    def has_plain(self) -> bool:
        """Say whether lines without evidence may be kept, be they alike or not."""
        return self._plain < PLAIN_LINES and self._bytes < MAX_BYTES // 2 and not self.is_spent

    def is_trace(self, probe: int) -> bool:
        """Say whether a probe looks for parts of tracebacks; these come first in the list."""
        return probe < self._trace_probes

    def fresh(self, probes: Ints) -> npt.NDArray[np.bool_]:
        """Count hits, in order of lines; say for which of them their probe is not worn out."""
        fresh = np.ones(len(probes), np.bool_)
        is_trace = probes < self._trace_probes
        _wear(fresh, is_trace, TRACE_LINES - self._traced)
        self._traced += int(is_trace.sum())
        for probe, count in enumerate(np.bincount(probes).tolist()):
            if count:
                left = PER_PROBE - self.counts[probe]
                self.counts[probe] += count
                if count > left and not self.is_trace(probe):
                    _wear(fresh, probes == probe, left)
        return fresh

    def hit(self, probes: tuple[int, ...], size: int, *, is_new: bool) -> bool:
        """Book a line that probes meet, if it may be kept; `is_new` says that none was like it."""
        rare = any(self._kept_of[probe] < RARE and not self.is_trace(probe) for probe in probes)
        if not self.spend(size) and not ((rare or is_new) and self._spend_reserve(size)):
            return False
        self._kept_of.update(probes)
        return True

    def plain(self, size: int) -> bool:
        """Book a line without evidence, if it may be kept."""
        self._plain += 1
        return self.spend(size)

    def spend(self, size: int, lines: int = 1) -> bool:
        """Book lines, if they may be kept."""
        if self.is_spent:
            return False
        self._lines += lines
        self._bytes += size + lines * _LINE
        return True

    def _spend_reserve(self, size: int) -> bool:
        if self._reserve <= 0:
            return False
        self._reserve -= size + _LINE
        return True


def _wear(fresh: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_], left: int) -> None:
    """Leave the first of some hits fresh."""
    fresh[np.flatnonzero(of)[max(0, left) :]] = False
