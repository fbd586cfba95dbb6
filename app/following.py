"""Diagnose a log while its job still writes it.

Each block that comes is scanned once and taken up as in any diagnosis, so memory is bounded in the
same way. What shows on the way is news: a first fault may turn out to be harmless or a consequence,
and only the verdict at the end weighs it all.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from app.compress.log import Glance, LineReading, compress
from app.compress.volume import tokens_of
from app.detect.detect import met
from app.detect.findings import fill
from app.detect.signals import marks, standing
from app.errors import SourceError
from app.model import Diagnosis, Job, Line, Marked, Prefix
from app.pipeline import Limits, Watch, judged
from app.read.follow import Following
from app.read.prefix import PrefixReader
from app.read.terminal import clean
from app.rulebook.compiled import Compiled

_ENDED_QUIET_SECONDS = 20.0  # after a line that says how the job ended
_MOST_HITS = 200  # lines of one block that met a probe and are looked at
_LAST_LINES = 400  # of a block, which may be the midst of a traceback
_MOST_EXAMPLES = 3  # of new kinds
_COUNTED_SECONDS = 5.0  # between two counts of what the log would take


@dataclass(frozen=True, slots=True)
class Fault:
    """The first line that met a signal."""

    line: Line
    cause: str
    says: str


@dataclass(frozen=True, slots=True)
class News:
    """What came since the last news; `tokens` is what all lines left so far would take."""

    lines: int
    tokens: int
    new_kinds: int
    examples: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    ending: Line | None = None


Tell = Callable[[News], None]


def follow(
    name: str,
    following: Following,
    compiled: Compiled,
    tell: Tell,
    *,
    job: Job | None = None,
    limits: Limits = Limits(),  # noqa: B008  # a frozen value
) -> Diagnosis:
    """Read until the log is quiet or reading is stopped; give the verdict. Raises SourceError.

    A line that says how the job ended shortens the wait.
    """
    watch = Watch()
    read = PrefixReader(time.gmtime().tm_year).read
    watcher = _Watcher(following, compiled, read, tell)
    log = compress(
        (name,),
        following.blocks(),
        compiled,
        LineReading(clean, lambda _: PrefixReader(time.gmtime().tm_year).read),
        watch=watcher.see,
    )
    watcher.say()
    watch.lap("read")
    if not log.total_lines:
        raise SourceError(f"{name}: the log is empty")
    return judged(log, compiled, job=job, limits=limits, watch=watch).diagnosis


@dataclass(slots=True)
class _Watcher:
    """Makes news of what comes."""

    following: Following
    compiled: Compiled
    read: Callable[[str], Prefix]
    tell: Tell
    _recent: deque[Line] = field(default_factory=lambda: deque(maxlen=2 * _LAST_LINES))
    _told: set[str] = field(default_factory=set)
    _faults: list[Fault] = field(default_factory=list)
    _examples: list[str] = field(default_factory=list)
    _new: int = 0
    _ending: Line | None = None
    _last: Glance | None = None
    _counted_at: float = 0.0

    def see(self, glance: Glance) -> None:
        """Look at one block; tell what is urgent now, the rest from time to time."""
        self._last = glance
        lines = list(self._lines(glance))
        self._recent += lines
        marked = marks(lines, self.compiled)
        self._faults += self._first_faults(marked)
        ended = [mark for mark in marked if _ends(mark)]
        if ended:
            self._ending = ended[-1].line
            self.following.quiet_seconds = min(self.following.quiet_seconds, _ENDED_QUIET_SECONDS)
        self._new += len(glance.new)
        hit = {line.number for line in lines if line.met}
        for index in glance.new:
            if len(self._examples) < _MOST_EXAMPLES and glance.first_number + index not in hit:
                self._examples.append(_text(glance, index))
        late = time.monotonic() - self._counted_at >= _COUNTED_SECONDS
        if self._faults or ended or (self._new and late):
            self.say()

    def say(self) -> None:
        """Tell what came since the last time, if anything did."""
        if self._last is None:
            return
        self._counted_at = time.monotonic()
        news = News(
            lines=self._last.first_number + self._last.scanned.lines - 1,
            tokens=tokens_of(self._last.templates()),
            new_kinds=self._new,
            examples=tuple(self._examples),
            faults=tuple(self._faults),
            ending=self._ending,
        )
        self._faults, self._examples, self._new, self._ending = [], [], 0, None
        self.tell(news)

    def _lines(self, glance: Glance) -> Iterator[Line]:
        """Give of a block the first lines that a probe meets, and the last ones in any case."""
        hits: dict[int, list[int]] = {}
        found = glance.scanned
        for index, probe in zip(found.hit_lines.tolist(), found.hit_probes.tolist(), strict=True):
            if index in hits or len(hits) < _MOST_HITS:
                hits.setdefault(index, []).append(probe)
        last = range(max(0, found.lines - _LAST_LINES), found.lines)
        for index in sorted({*hits, *last}):
            for piece in clean(_text(glance, index)):
                prefix = self.read(piece)
                number = glance.first_number + index
                yield Line(
                    0, number, piece, piece[prefix.end :], prefix.rank, prefix.host, prefix.time,
                    prefix.stream, tuple(hits.get(index, ())),
                )  # fmt: skip

    def _first_faults(self, marked: Sequence[Marked]) -> Iterator[Fault]:
        """Tell what the latest lines show for the first time; a traceback may span two blocks."""
        book = self.compiled.rulebook
        for one in standing(met(tuple(self._recent), marked, self.compiled)):
            if one.strength in ("proof", "clue") and one.signal not in self._told:
                self._told.add(one.signal)
                signal = book.signal_named[one.signal]
                yield Fault(one.line, signal.cause, fill(signal.says, one.facts))


def _ends(mark: Marked) -> bool:
    """Say whether a line tells that the job is over; what only looks like it does not."""
    return mark.kind == "failed" or (mark.kind == "finished" and mark.grade != "hint")


def _text(glance: Glance, index: int) -> str:
    return glance.scanned.line(index).decode("utf-8", "replace").rstrip("\r\n")
