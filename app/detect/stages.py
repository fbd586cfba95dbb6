"""Tell stages of one job from attempts: a script that died before it wrote what the next one reads.

A shell script that goes on after a failure starts its next program all the same. That one is no
second try of the first, and its complaint about a missing file is no more than a consequence. Only
a trace of the shell (`set -x`) shows both commands, and it counts only where the first was to write
what the second is given, died of an error, and no training came of the second.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from app.model import Compressed, Line, Sighting

_TRACED = re.compile(r"^\++ \S")
_SCRIPT = re.compile(r"(?:^|[\s/])([\w.-]+\.(?:py|sh))(?=\s|$)|\s-m\s+([\w.]+)")
_WRITES = re.compile(
    r"\s(?:-o|--(?:out|save|dest|target|export)[\w-]*)[= ]['\"]?(?P<path>[^\s'\"=]*/[^\s'\"=]+)"
)


def stages(
    log: Compressed, cuts: Mapping[int, Iterable[int]], sightings: Iterable[Sighting]
) -> Mapping[int, frozenset[int]]:
    """Give the cuts, by file, where the next stage of one attempt begins and no other attempt."""
    cut_files = {file: sorted(own) for file, own in cuts.items() if own}
    if not cut_files:
        return {}
    died = [s.line for s in sightings if s.strength == "proof"]
    found = {}
    for file, own in cut_files.items():
        lines = [line for line in log.lines if line.file == file]
        proofs = [line.number for line in died if line.file == file]
        steps = [p.number for p in log.points if p.file == file and p.step is not None]
        ends = [*own[1:], log.files[file].lines + 1]
        found[file] = frozenset(
            cut
            for cut, end in zip(own, ends, strict=True)
            if _is_next_stage(lines, cut, end, proofs, steps)
        )
    return found


def _is_next_stage(
    lines: Sequence[Line], cut: int, end: int, proofs: Sequence[int], steps: Sequence[int]
) -> bool:
    traced = [line for line in lines if line.number <= cut and _TRACED.match(line.text)]
    if len(traced) < 2 or traced[-1].number != cut:
        return False
    first, second = traced[-2], traced[-1]
    scripts = [_scripts(line.text) for line in (first, second)]
    if not all(scripts) or scripts[0] & scripts[1]:
        return False
    if not any(first.number < number < cut for number in proofs):
        return False
    if any(first.number < number < end for number in steps):
        return False
    written = [match["path"] for match in _WRITES.finditer(first.text)]
    given = [line.text for line in lines if cut <= line.number < end]
    return any(path in text for path in written for text in given)


def _scripts(command: str) -> set[str]:
    return {found[1] or found[2] for found in _SCRIPT.finditer(command)}
