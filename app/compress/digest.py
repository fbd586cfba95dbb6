"""What a person or a model is shown of a log, within a budget of tokens.

First the faults, then the log itself in its own order: whole where it fits, else the lines that a
careful reader needs (see `excerpt`), with a note wherever something is left out. Then how training
went, the kinds of lines that were not shown, and what the filters took away. Numbers are those of
the original lines. The page stays within its budget whatever the log holds.
"""

from collections.abc import Sequence
from functools import lru_cache

from app.compress.excerpt import NEAR, chosen, is_bare
from app.compress.milestones import milestones
from app.model import Attempt, Compressed, Line, Template
from app.token_count import tokens

_LONGEST = 400
_LONGEST_FAULT = 1000
_FEW_LINES = 200  # of a log that is shown with long lines
_NOTE = 8  # tokens
_BLANKS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029], " ")


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
    title, rows, shown = _excerpt(log, faults, attempts, page.room(0.85))
    page.section(title, rows, share=0.88)
    page.section("Progress of training", _progress(log, shown), share=0.95)
    page.section("Other kinds of lines, rarest first", _kinds(log, shown), share=0.98)
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
    what = _short(log.files[0].name) if len(log.files) == 1 else f"{len(log.files)} files"
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
        written += [f"-- {_short(why)}", _numbered(log.lines[at], log, _LONGEST_FAULT)]
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
) -> tuple[str, list[str], set[int]]:
    """Write the chosen lines in order, with their indices; a gap tells how many lines it is."""
    longest = _LONGEST_FAULT if len(log.lines) < _FEW_LINES else _LONGEST
    write = lru_cache(maxsize=None)(lambda index: _numbered(log.lines[index], log, longest))
    indices = chosen(
        log, list(_places(log, faults)), attempts, lambda index: _cost(write(index)), room
    )
    rows: list[str] = []
    before: Line | None = None
    for index in indices:
        line = log.lines[index]
        last = before.number if before and before.file == line.file else 0
        if line.number > last + NEAR:
            rows.append(f"… {line.number - last - 1} lines")
        rows.append(write(index))
        before = line
    whole = len(indices) == sum(not is_bare(line) for line in log.lines)
    return "The log, without routine lines" if whole else "From the log", rows, set(indices)


def _progress(log: Compressed, shown: set[int]) -> list[str]:
    """Write the metric lines that tell how training went, but those that are shown."""
    seen = {(log.lines[index].file, log.lines[index].number) for index in shown}
    told = [point for point in milestones(log.points) if (point.file, point.number) not in seen]
    return [f"{_name(point.file, log)}{point.number}: {_short(point.text)}" for point in told]


def _kinds(log: Compressed, shown: set[int]) -> list[str]:
    """List the kinds of which no line is shown."""
    seen = {(log.lines[index].file, log.lines[index].number) for index in shown}
    rarest = sorted(log.templates, key=lambda template: (template.count, template.first))
    return [
        f"{t.count:>7} x {_short(t.text)}  (line {t.first[1]}{_ranks(t)})"
        for t in rarest
        if t.first not in seen and t.last not in seen
    ]


def _ranks(template: Template) -> str:
    ranks = template.ranks
    if not ranks:
        return ""
    return f", rank {ranks[0]}" if len(ranks) == 1 else f", {len(ranks)} ranks from {ranks[0]} on"


def _removed(log: Compressed) -> list[str]:
    return [f"{count:>9} lines: {name}" for name, count in log.removed.items()]


def _numbered(line: Line, log: Compressed, longest: int = _LONGEST) -> str:
    return f"{_name(line.file, log)}{line.number}: {_short(line.raw, longest)}"


def _name(file: int, log: Compressed) -> str:
    return f"{_short(log.files[file].name)}:" if len(log.files) > 1 else ""


def _short(text: str, longest: int = _LONGEST) -> str:
    """Cut a text, and keep it on its line."""
    return text[:longest].translate(_BLANKS)
