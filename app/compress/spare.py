"""Tell the lines that a reader can do without.

Most of what is left of a log are settings that a program prints when it starts, and what a healthy
run says over and over: metrics, bars, checkpoints. Of a dump the first lines and the last one say
what it is; of what comes again and again the first and the last say when it began and ended. Lines
that a pattern meets are not spared, unless they are metrics, and words of trouble seldom.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from app.model import Compressed, Line

_LEAST_DUMP = 10  # lines
_DUMP_HEAD, _DUMP_TAIL = 2, 1
_LEAST_REPEATED, _LEAST_TROUBLE = 10, 20
_FIRST, _LAST = 2, 3  # of the lines of one shape
_NEAR = 2  # lines; what stands between is blank, or was a bar
_LOOKED_AT = 200  # characters
_TROUBLE = re2.compile(
    r"(?i)error|fail|fatal|exception|abort|killed|kill |signal|terminat|timeout|timed out|cancel"
    r"|refused|lost|corrupt|denied|no space|not found|unable|cannot|could not|invalid|preempt"
    r"|nan\b|\binf\b|overflow|oom|out of memory|exit|hang|stuck|xid|panic|unreachable|disconnect"
)
# [config.py:1003:print]   amp_enabled .................. False
#     "number_checkpoints": null,      hidden_size: 4096      --lr=1e-4      },
_SETTING = re2.compile(
    r"\s*(?:\[[^\]]{1,80}\]\s*)*"
    r"(?:[\"']?[\w./-]+[\"']?(?: [\w./-]+){0,4}\s*(?:\.{2,}|[:=])\s*\S.*|--?[\w-]+[= ]\S+"
    r"|[\w./-]+\s+(?:True|False|None|null|[-+\d.e]+),?|[\]\[{}(),]+)\s*"
)
_VOLATILE = re.compile(r"0x[0-9a-fA-F]+|-?\d[\d.]*(?:e[-+]?\d+)?|[▏▎▍▌▋▊▉█]+ *")


@dataclass(frozen=True, slots=True)
class Spare:
    """Indices of lines that can be left out, and of those that tell of trouble, perhaps.

    `shapes` are all lines without their numbers.
    """

    settings: frozenset[int]
    repeated: frozenset[int]
    trouble: frozenset[int]
    shapes: Sequence[str]

    def __contains__(self, index: int) -> bool:
        """Say whether a line can be left out."""
        return index in self.settings or index in self.repeated


def spare(log: Compressed) -> Spare:
    """Find the lines that can be left out."""
    lines = log.lines
    shapes = [_shape(line.text) for line in lines]
    trouble = frozenset(i for i, line in enumerate(lines) if _TROUBLE.search(line.text))
    free = [not line.met and index not in trouble for index, line in enumerate(lines)]
    settings = frozenset(_settings(lines, shapes, free))
    repeated = frozenset(_repeated(log, shapes, free)) - settings
    return Spare(settings, repeated, trouble, shapes)


def _shape(text: str) -> str:
    return _VOLATILE.sub("#", text[: 2 * _LOOKED_AT])[:_LOOKED_AT]


def _settings(lines: Sequence[Line], shapes: Sequence[str], free: Sequence[bool]) -> Iterator[int]:
    """Give the lines of dumps but their first and last ones; what has one shape is no dump."""
    for run in _runs(lines):
        if len(run) >= _LEAST_DUMP and len({shapes[index] for index in run}) > len(run) // 2:
            yield from (index for index in run[_DUMP_HEAD:-_DUMP_TAIL] if free[index])


def _runs(lines: Sequence[Line]) -> Iterator[list[int]]:
    """Give the neighbours that all set something."""
    run: list[int] = []
    for index, line in enumerate(lines):
        sets = _SETTING.fullmatch(line.text[:_LOOKED_AT]) is not None
        if run and not (sets and _follows(lines[run[-1]], line)):
            yield run
            run = []
        if sets:
            run.append(index)
    yield run


def _follows(before: Line, line: Line) -> bool:
    return before.file == line.file and line.number <= before.number + _NEAR


def _repeated(log: Compressed, shapes: Sequence[str], free: Sequence[bool]) -> Iterator[int]:
    """Give what comes again and again, but the first and the last of each shape.

    Readings are spared whatever words they hold: `number of nan iterations: 0` tells of no trouble,
    and one that is no number is of another shape.
    """
    readings = {(point.file, point.number) for point in log.points}
    groups: dict[tuple[int, bool, str], list[int]] = {}
    for index, line in enumerate(log.lines):
        is_reading = (line.file, line.number) in readings
        if is_reading or not line.met:
            is_dull = is_reading or free[index]
            groups.setdefault((line.file, is_dull, shapes[index]), []).append(index)
    for (_, is_dull, _), group in groups.items():
        if len(group) >= (_LEAST_REPEATED if is_dull else _LEAST_TROUBLE):
            yield from group[_FIRST:-_LAST]
