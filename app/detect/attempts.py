"""Cut a log into the attempts it holds: restarts by a launcher, requeues, appended runs.

Every rank prints its own start line, so a start line alone cuts nothing: a new attempt begins at
one that comes after the job had gone on, had failed or had ended. Files that bear the number of
an attempt in their names are attempts of their own.
"""

import re
from collections.abc import Iterable, Sequence

from app.model import Attempt, Compressed, Marked, Sighting

_IN_NAME = re.compile(r"(?:attempt|restart|retry|requeue|try|run)[-_.]?(\d+)", re.IGNORECASE)


def cut(
    log: Compressed, marks: Sequence[Marked], sightings: Sequence[Sighting]
) -> tuple[Attempt, ...]:
    """Give the attempts, first to last; a log without any cut is one attempt."""
    named = _by_name(log)
    if named:
        return named
    spans = {
        index: _spans(file.lines, _cuts(index, log, marks, sightings))
        for index, file in enumerate(log.files)
    }
    number = max((len(own) for own in spans.values()), default=1)
    return tuple(
        Attempt(
            n + 1,
            {
                index: own[n - number + len(own)]
                for index, own in spans.items()
                if n - number + len(own) >= 0
            },
        )
        for n in range(number)
    )


def _by_name(log: Compressed) -> tuple[Attempt, ...] | None:
    numbers: dict[int, list[int]] = {}
    for index, file in enumerate(log.files):
        found = _IN_NAME.search(file.name)
        if found is None:
            return None
        numbers.setdefault(int(found.group(1)), []).append(index)
    if len(numbers) < 2:
        return None
    return tuple(
        Attempt(n + 1, {index: (1, log.files[index].lines) for index in numbers[number]})
        for n, number in enumerate(sorted(numbers))
    )


def _cuts(
    file: int, log: Compressed, marks: Iterable[Marked], sightings: Iterable[Sighting]
) -> list[int]:
    """Line numbers where a new attempt begins."""
    gone_on = {m.line.number for m in marks if m.line.file == file and m.kind != "start"}
    gone_on &= {m.line.number for m in marks if m.kind in ("finished", "failed", "exit")}
    gone_on |= {
        s.line.number for s in sightings if s.line.file == file and s.strength in ("proof", "echo")
    }
    gone_on |= {
        point.number for point in log.points if point.file == file and point.step is not None
    }
    starts = sorted({m.line.number for m in marks if m.line.file == file and m.kind == "start"})
    between = sorted(gone_on)
    cuts: list[int] = []
    previous, at = 0, 0
    for start in starts:
        moved = False
        while at < len(between) and between[at] < start:
            moved = moved or between[at] > previous
            at += 1
        if moved:
            cuts.append(start)
        previous = start
    return cuts


def _spans(lines: int, cuts: Sequence[int]) -> list[tuple[int, int]]:
    begins = [1, *cuts]
    ends = [*(start - 1 for start in cuts), max(lines, 1)]
    return list(zip(begins, ends, strict=True))
