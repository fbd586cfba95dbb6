"""What a person or a model is shown of a log, within a budget of tokens.

First the faults, then the log itself in its own order: whole where it is short, else the lines that
a careful reader needs (see `excerpt`), with a note wherever lines or the rest of a line are left
out. Then how training went, the kinds of lines that were not shown, and what the filters took away.
Numbers are those of the original lines. The page stays within its budget whatever the log holds.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache

from app.compress.cut import cut
from app.compress.excerpt import NEAR, Excerpt, excerpt, is_bare
from app.compress.progress import progress
from app.model import Attempt, Compressed, Line, Point, Template
from app.token_count import tokens

_LONGEST = 400
_LONGEST_FAULT = 1000
_FEW_LINES = 200  # of a log that is shown with long lines
_NOTE = 8  # tokens
_LONGEST_READING = 240
_LONGEST_KIND = 200
_MOST_KINDS = 60
_PROGRESS = 0.12  # of the budget, kept for how training went


def digest(
    log: Compressed,
    faults: Sequence[tuple[Line, str]],
    attempts: Sequence[Attempt],
    budget_tokens: int,
) -> str:
    """Write the digest; `faults` are lines with why they matter, the first ones first."""
    page = _Page(budget_tokens)
    page.section("", [_head(log), *_attempts(attempts)], share=0.1)
    page.section("First faults", _faults(log, faults), share=0.3)
    sums, points = progress(log.points)
    told = sum(map(_cost, (*sums, *_readings(points, log, frozenset()))))
    of_log = 0.88 - min(_PROGRESS, told / max(1, budget_tokens))
    title, rows, found = _excerpt(log, faults, attempts, page.room(of_log - 0.03))
    page.section(title, rows, share=of_log)
    readings = _readings(points, log, _seen(log, found))
    page.section("Progress of training", [*sums, *readings], share=0.95)
    page.section("Other kinds of lines, rarest first", _kinds(log, found), share=0.98)
    page.section("Taken away by filters", _removed(log), share=1.0)
    return page.text()


class _Page:
    def __init__(self, budget_tokens: int) -> None:
        self._budget = budget_tokens - _NOTE
        self._used = 0
        self._lines: list[str] = []
        self._left_out = 0

    def room(self, share: float) -> int:
        """Tell how many tokens are left up to a share of the budget, a headline taken off."""
        return int(self._budget * share) - self._used - 2 * _NOTE

    def section(self, title: str, lines: Sequence[str], share: float) -> None:
        """Add lines while the page stays within the given share of its budget."""
        if not lines:
            return
        headline = f"== {title} ==" if title else ""
        note = f"… {len(lines)} more"
        if self._used + _cost(headline) + _cost(note) > self._budget:
            self._left_out += 1
            return
        if headline:
            self._add(headline)
        fitting = _fitting(lines, int(self._budget * share) - self._used, _cost(note))
        for line in lines[:fitting]:
            self._add(line)
        if fitting < len(lines):
            self._add(f"… {len(lines) - fitting} more")

    def text(self) -> str:
        if self._left_out and self._budget >= 0:
            self._add(f"… {self._left_out} sections more")
        return "".join(f"{line}\n" for line in self._lines)

    def _add(self, line: str) -> None:
        self._used += _cost(line)
        self._lines.append(line)


def _fitting(lines: Sequence[str], room: int, note: int) -> int:
    """Count the lines from the first on that fit, with room for a note where not all do."""
    used = 0
    for index, line in enumerate(lines):
        used += _cost(line)
        if used + (note if index + 1 < len(lines) else 0) > room:
            return index
    return len(lines)


def _cost(line: str) -> int:
    return tokens(line) + 1


def _head(log: Compressed) -> str:
    size = sum(file.bytes for file in log.files)
    kept = sum(file.kept_lines for file in log.files)
    what = cut(log.files[0].name, _LONGEST) if len(log.files) == 1 else f"{len(log.files)} files"
    return f"{what}: {log.total_lines} lines, {size} bytes; {kept} lines are not routine"


def _attempts(attempts: Sequence[Attempt]) -> list[str]:
    if len(attempts) < 2:
        return []
    cuts = [min(attempt.spans.values(), default=(0, 0)) for attempt in attempts]
    return [
        f"attempt {a.number}: from line {first}"
        for a, (first, _) in zip(attempts, cuts, strict=True)
    ]


def _faults(log: Compressed, faults: Sequence[tuple[Line, str]]) -> list[str]:
    written: list[str] = []
    for at, why in _places(log, faults).items():
        written += [f"-- {cut(why, _LONGEST)}", _numbered(log.lines[at], log, _LONGEST_FAULT)]
    return written


def _places(log: Compressed, faults: Sequence[tuple[Line, str]]) -> dict[int, str]:
    """Find the faults among the kept lines; of several reasons for a line the first is given."""
    place = {(line.file, line.number, line.raw): index for index, line in enumerate(log.lines)}
    found: dict[int, str] = {}
    for fault, why in faults:
        at = place.get((fault.file, fault.number, fault.raw))
        if at is not None:
            found.setdefault(at, why)
    return found


def _excerpt(
    log: Compressed,
    faults: Sequence[tuple[Line, str]],
    attempts: Sequence[Attempt],
    room: int,
) -> tuple[str, list[str], Excerpt]:
    """Write the chosen lines in order; a gap tells how many lines it is, and of what sort."""
    longest = _LONGEST_FAULT if len(log.lines) < _FEW_LINES else _LONGEST
    write = lru_cache(maxsize=None)(lambda index: _numbered(log.lines[index], log, longest))
    places = list(_places(log, faults))
    found = excerpt(log, places, attempts, lambda index: _cost(write(index)), room)
    rows: list[str] = []
    before = -1
    for index in found.indices:
        line = log.lines[index]
        is_same = before >= 0 and log.lines[before].file == line.file
        last = log.lines[before].number if is_same else 0
        if line.number > last + NEAR:
            between = range(before + 1, index) if is_same else range(0)
            rows.append(f"… {line.number - last - 1} lines{_sort(between, found)}")
        rows.append(write(index))
        before = index
    title = "The log, without routine lines" if found.is_whole else "From the log"
    return title, rows, found


def _sort(between: Sequence[int], found: Excerpt) -> str:
    """Say of what sort the lines of a gap are, as far as they were kept."""
    spared = found.spared
    if not between or any(index not in spared for index in between):
        return ""
    settings = sum(index in spared.settings for index in between)
    return " of settings" if settings * 2 > len(between) else " like others"


def _seen(log: Compressed, found: Excerpt) -> set[tuple[int, int]]:
    return {(log.lines[index].file, log.lines[index].number) for index in found.indices}


def _readings(
    points: Sequence[Point], log: Compressed, seen: Collection[tuple[int, int]]
) -> list[str]:
    """Write metric lines that are not shown elsewhere."""
    return [
        f"{_name(point.file, log)}{point.number}: {cut(point.text, _LONGEST_READING)}"
        for point in points
        if (point.file, point.number) not in seen
    ]


def _kinds(log: Compressed, found: Excerpt) -> list[str]:
    """List the kinds of which no line is shown, but settings."""
    seen = _seen(log, found)
    seen |= {(log.lines[i].file, log.lines[i].number) for i in found.spared.settings}
    rarest = sorted(log.templates, key=lambda template: (template.count, template.first))
    told = [
        f"{t.count:>7} x {cut(t.text, _LONGEST_KIND)}  (line {t.first[1]}{_ranks(t)})"
        for t in rarest
        if t.first not in seen and t.last not in seen and not is_bare(t.example)
    ]
    more = [f"… {len(told) - _MOST_KINDS} more"] if len(told) > _MOST_KINDS else []
    return told[:_MOST_KINDS] + more


def _ranks(template: Template) -> str:
    ranks = template.ranks
    if not ranks:
        return ""
    return f", rank {ranks[0]}" if len(ranks) == 1 else f", {len(ranks)} ranks from {ranks[0]} on"


def _removed(log: Compressed) -> list[str]:
    return [f"{count:>9} lines: {name}" for name, count in log.removed.items()]


def _numbered(line: Line, log: Compressed, longest: int = _LONGEST) -> str:
    return f"{_name(line.file, log)}{line.number}: {cut(line.raw, longest)}"


def _name(file: int, log: Compressed) -> str:
    return f"{cut(log.files[file].name, _LONGEST)}:" if len(log.files) > 1 else ""
