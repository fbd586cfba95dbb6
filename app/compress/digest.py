"""What a person or a model is shown of a log, within a budget of tokens.

First faults first, then the end of the log, the lines round the faults, the kinds of lines that
were kept, rarest first, and what the filters took away. Numbers are those of the original lines.
What does not fit is left out from the end of a section (from the start of the log's end), and the
section says how much. The page stays within its budget whatever the log holds.
"""

from collections.abc import Sequence

from app.model import Attempt, Compressed, Line, Template
from app.token_count import tokens

_NEIGHBOURS = 3
_LONGEST = 400
_LONGEST_FAULT = 1000
_END_LINES = 40
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
    page.section("First faults", _faults(log, faults), share=0.4)
    page.section("End of the log", _end(log), share=0.6, keep_end=True)
    page.section("Round the faults", _neighbours(log, faults), share=0.75)
    page.section("Kinds of lines, rarest first", _kinds(log.templates), share=0.95)
    page.section("Taken away by filters", _removed(log), share=1.0)
    return page.text()


class _Page:
    def __init__(self, budget_tokens: int) -> None:
        self._budget = budget_tokens - _NOTE
        self._used = 0
        self._lines: list[str] = []
        self._left_out = 0

    def section(
        self, title: str, lines: Sequence[str], share: float, *, keep_end: bool = False
    ) -> None:
        """Add lines while the page stays within the given share of its budget."""
        if not lines:
            return
        allowed = int(self._budget * share)
        headline = f"== {title} ==" if title else ""
        note = f"… {len(lines)} more"
        if self._used + _cost(headline) + _cost(note) > self._budget:
            self._left_out += 1
            return
        if headline:
            self._add(headline)
        room = allowed - self._used
        fitting = _fitting(lines[::-1] if keep_end else lines, room, _cost(note))
        left_out = [f"… {len(lines) - fitting} more"] if fitting < len(lines) else []
        kept = lines[len(lines) - fitting :] if keep_end else lines[:fitting]
        for line in (*left_out, *kept) if keep_end else (*kept, *left_out):
            self._add(line)

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


def _neighbours(log: Compressed, faults: Sequence[tuple[Line, str]]) -> list[str]:
    places = _places(log, faults)
    shown = set(places)
    written: list[str] = []
    for at in places:
        for index in range(max(0, at - _NEIGHBOURS), min(len(log.lines), at + _NEIGHBOURS + 1)):
            line = log.lines[index]
            if index not in shown and line.file == log.lines[at].file:
                shown.add(index)
                written.append(_numbered(line, log))
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


def _end(log: Compressed) -> list[str]:
    if len(log.files) == 1:
        return [_numbered(line, log) for line in log.lines[-_END_LINES:]]
    last: dict[int, list[Line]] = {}
    for line in log.lines:
        last.setdefault(line.file, []).append(line)
    each = max(2, _END_LINES // max(1, len(last)))
    return [_numbered(line, log) for own in last.values() for line in own[-each:]]


def _kinds(templates: Sequence[Template]) -> list[str]:
    rarest = sorted(templates, key=lambda template: (template.count, template.first))
    return [f"{t.count:>7} x {_short(t.text)}  (line {t.first[1]}{_ranks(t)})" for t in rarest]


def _ranks(template: Template) -> str:
    ranks = template.ranks
    if not ranks:
        return ""
    return f", rank {ranks[0]}" if len(ranks) == 1 else f", {len(ranks)} ranks from {ranks[0]} on"


def _removed(log: Compressed) -> list[str]:
    return [f"{count:>9} lines: {name}" for name, count in log.removed.items()]


def _numbered(line: Line, log: Compressed, longest: int = _LONGEST) -> str:
    name = f"{_short(log.files[line.file].name)}:" if len(log.files) > 1 else ""
    return f"{name}{line.number}: {_short(line.raw, longest)}"


def _short(text: str, longest: int = _LONGEST) -> str:
    """Cut a text, and keep it on its line."""
    return text[:longest].translate(_BLANKS)
