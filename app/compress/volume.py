"""How much of a log is left, and which kinds of lines make up most of it.

The digest keeps within its budget whatever is left, by leaving lines out. What it would take to
show all lines says whether the filters know the format of the log; where they do not, nearly all
of it is a few kinds of lines that the job prints at every step.
"""

from collections.abc import Iterable, Iterator, Mapping

from app.compress.template import template_of
from app.model import Compressed, Line, Template
from app.token_count import tokens
from app.written import Kind, Volume

_LONGEST = 400  # as in the digest
_NUMBER = 3  # tokens of a line's number
_LARGEST, _RAREST = 40, 40  # kinds
_SAMPLES = 8  # of a kind
_MOST_SPARED = 300  # lines
_AT_LEAST = 2  # lines, else it is no kind


def volume(log: Compressed, budget_tokens: int) -> Volume:
    """Measure what is left; past the budget, give the kinds that it consists of."""
    needed = tokens_of(log.templates)
    is_over = needed > budget_tokens
    return Volume(
        tokens=needed,
        lines=log.total_lines,
        kept=sum(file.kept_lines for file in log.files),
        kinds=tuple(_kinds(log)) if is_over else (),
        spared=tuple(_spared(log)) if is_over else (),
        removed=dict(log.removed),
    )


def tokens_of(templates: Iterable[Template]) -> int:
    """Give what all lines of these kinds would take."""
    return sum(map(_weight, templates))


def _weight(template: Template) -> int:
    return template.count * (tokens(template.example[:_LONGEST]) + _NUMBER)


def _kinds(log: Compressed) -> Iterator[Kind]:
    """Give the largest kinds, then the rarest: a filter for the first must not meet the others."""
    samples = _samples(log)
    free = [template for template in log.templates if template.text in samples]
    large = [t for t in sorted(free, key=_weight, reverse=True) if t.count >= _AT_LEAST][:_LARGEST]
    taken = {template.text for template in large}
    rare = [t for t in sorted(free, key=lambda t: t.count) if t.text not in taken][:_RAREST]
    for template in (*large, *rare):
        yield Kind(template.text, template.count, samples[template.text])


def _samples(log: Compressed) -> Mapping[str, tuple[str, ...]]:
    """Take lines of each kind from all over the log, but none that may be evidence."""
    found: dict[str, list[str]] = {}
    for line in log.lines:
        if not line.met:
            found.setdefault(_text(line), []).append(line.raw[:_LONGEST])
    return {text: tuple(_spread(lines)) for text, lines in found.items()}


def _spared(log: Compressed) -> Iterator[str]:
    """Give the lines that a probe meets, one of each kind, the last ones: they tell of the end."""
    kinds = {_text(line): line.raw for line in log.lines if line.met}
    yield from list(kinds.values())[-_MOST_SPARED:]


def _text(line: Line) -> str:
    return template_of(line.raw.encode("utf-8", "replace")).decode("utf-8", "replace")


def _spread(lines: list[str]) -> Iterator[str]:
    distinct = list(dict.fromkeys(lines))
    count = min(len(distinct), _SAMPLES)
    for place in range(count):
        yield distinct[place * (len(distinct) - 1) // max(count - 1, 1)]
