"""Choose which lines of a log are kept as text, within fixed budgets.

A small log keeps every line that no filter drops. A large one keeps, in this order of claim: lines
that a probe meets, the lines right below the parts of a traceback, the beginning and the end of
each file, and the first lines of each kind; the rest lives on in templates and counts. So a story
told by one line among millions stays, and a million lines of one story do not.

Memory bound: `MAX_LINES` lines and `MAX_BYTES` bytes of text; the end of each file may pass it.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping

from app.compress.scan import Scanned
from app.compress.template import template_of
from app.model import Line, Prefix

MAX_LINES = 60_000
MAX_BYTES = 12 << 20
MAX_TEXT = 4096
PER_PROBE = 4096  # more than the ranks of nearly all jobs, so that one missing rank shows
TRACE_LINES = 20_000
PLAIN_LINES = 12_000
PLAIN_PER_KIND = 3
_FEW_FILES = 100
_HEAD, _TAIL = 40, 200
_SHORT_HEAD, _SHORT_TAIL = 5, 20  # for jobs with more files
_FAR = b" \xe2\x80\xa6 "

ReadPrefix = Callable[[str], Prefix]
Clean = Callable[[str], tuple[str, ...]]


class Sieve:
    """Keeps lines of one file, block after block; budgets are shared by all files of the log."""

    def __init__(self, file: int, budget: "Budget", clean: Clean, read_prefix: ReadPrefix) -> None:
        self.lines: list[Line] = []
        self._file = file
        self._budget = budget
        self._clean = clean
        self._read_prefix = read_prefix
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=budget.tail)
        self._kept_numbers: set[int] = set()

    def take(self, first_number: int, scanned: Scanned) -> int:
        """Keep what matters of one block, whose first line has the given number.

        Returns how many of its lines were kept.
        """
        met = self._met(scanned)
        wanted: dict[int, tuple[tuple[int, int], ...]] = dict(met)
        for index in self._below_traces(scanned, met):
            wanted.setdefault(index, ())
        for index in range(min(scanned.lines, self._budget.head + 1 - first_number)):
            wanted.setdefault(index, ())
        for index in list(self._plain_lines(scanned, wanted)):
            wanted[index] = ()
        for index in sorted(wanted):
            hits = wanted[index]
            raw = _raw(scanned, index, hits[0][1] if hits else None)
            self._keep(first_number + index, raw, tuple(probe for probe, _ in hits))
        for index in range(max(0, scanned.lines - self._budget.tail), scanned.lines):
            self._recent.append((first_number + index, _raw(scanned, index, None)))
        return len(wanted)

    def end(self) -> tuple[Line, ...]:
        """Give all kept lines, the last ones of the file among them, in order."""
        for number, raw in self._recent:
            if number not in self._kept_numbers:
                self._keep(number, raw, ())
        self.lines.sort(key=lambda line: line.number)
        return tuple(self.lines)

    def _met(self, scanned: Scanned) -> dict[int, tuple[tuple[int, int], ...]]:
        """Lines that a probe meets, as (probe, end of match), while the probe is not worn out."""
        met: dict[int, tuple[tuple[int, int], ...]] = {}
        hits = zip(
            scanned.hit_lines.tolist(),
            scanned.hit_probes.tolist(),
            scanned.hit_ends.tolist(),
            strict=True,
        )
        for index, probe, end in hits:
            if self._budget.allows(probe):
                met[index] = (*met.get(index, ()), (probe, end))
        return met

    def _below_traces(
        self, scanned: Scanned, met: Mapping[int, tuple[tuple[int, int], ...]]
    ) -> Iterator[int]:
        """The source line below a frame, the lines of a message below an exception."""
        for index, hits in met.items():
            if any(self._budget.is_trace(probe) for probe, _ in hits):
                yield from range(index + 1, min(index + 3, scanned.lines))

    def _plain_lines(self, scanned: Scanned, wanted: Mapping[int, object]) -> Iterator[int]:
        for index in scanned.kept.tolist():
            if self._budget.plain >= PLAIN_LINES or self._budget.is_spent:
                return
            if index not in wanted and self._budget.allows_plain(_raw(scanned, index, None)):
                yield index

    def _keep(self, number: int, raw: bytes, met: tuple[int, ...]) -> None:
        self._kept_numbers.add(number)
        self._budget.spend(len(raw))
        for piece in self._clean(raw.decode("utf-8", "replace").rstrip("\r\n")):
            prefix = self._read_prefix(piece)
            line = Line(
                file=self._file,
                number=number,
                raw=piece,
                text=piece[prefix.end :],
                rank=prefix.rank,
                host=prefix.host,
                time=prefix.time,
                stream=prefix.stream,
                met=met,
            )
            self.lines.append(line)


class Budget:
    """How many lines of each sort the log may still keep; counts every hit, kept or not."""

    def __init__(self, trace_probes: int, files: int) -> None:
        self.counts: Counter[int] = Counter()
        self.plain = 0
        self.head, self.tail = (_HEAD, _TAIL) if files <= _FEW_FILES else (_SHORT_HEAD, _SHORT_TAIL)
        self._trace_probes = trace_probes
        self._traced = 0
        self._lines = 0
        self._bytes = 0
        self._kinds: Counter[bytes] = Counter()

    @property
    def is_spent(self) -> bool:
        """Say whether nothing but the end of files may be kept any more."""
        return self._lines >= MAX_LINES or self._bytes >= MAX_BYTES

    def is_trace(self, probe: int) -> bool:
        """Say whether a probe looks for parts of tracebacks; these come first in the list."""
        return probe < self._trace_probes

    def allows(self, probe: int) -> bool:
        """Count a hit; say whether its line may be kept."""
        self.counts[probe] += 1
        if self.is_spent:
            return False
        if self.is_trace(probe):
            self._traced += 1
            return self._traced <= TRACE_LINES
        return self.counts[probe] <= PER_PROBE

    def allows_plain(self, raw: bytes) -> bool:
        """Say whether a line without evidence may be kept: all at first, later few of a kind."""
        if self.plain >= PLAIN_LINES // 2:
            kind = template_of(raw[:256])
            if self._kinds[kind] >= PLAIN_PER_KIND:
                return False
            self._kinds[kind] += 1
        self.plain += 1
        return True

    def spend(self, size: int) -> None:
        """Book one kept line."""
        self._lines += 1
        self._bytes += size


def _raw(scanned: Scanned, index: int, match_end: int | None) -> bytes:
    """Take a line; of a very long one its beginning, or its head and what was matched."""
    begin, end = int(scanned.starts[index]), int(scanned.starts[index + 1])
    if end - begin <= MAX_TEXT:
        return scanned.data[begin:end].tobytes()
    if match_end is None or match_end - begin < MAX_TEXT * 3 // 4:
        return scanned.data[begin : begin + MAX_TEXT].tobytes()
    head = scanned.data[begin : begin + 256].tobytes()
    near = scanned.data[match_end - MAX_TEXT // 2 : min(end, match_end + MAX_TEXT // 4)].tobytes()
    return head + _FAR + near
