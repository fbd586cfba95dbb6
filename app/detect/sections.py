"""Headings that give what follows to a host or a rank, in logs that were put together.

`dmesg` has no host in its lines; the heading above it has. `tail` writes `==> gpu-17.err <==`,
ansible `gpu-17 | CHANGED | rc=0 >>`, clush the name between two rules of dashes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from app.located import Section
from app.model import Line, Marked

# === dmesg of node-17 ===   ##### node: gpu-17 #####   --- rank 3 stderr ---
_HEADING = re.compile(r"[=#*+>~_-]{2,}[\W_]{0,3}(?=[^\W_])(.{1,100}?)[\s=#*+<~_-]*$")
_DRAWN = "=#*+>~_-"
_OF_RANK = re.compile(r"\brank[ :=_-]*(\d{1,6})\b", re.IGNORECASE)
_OF_HOST = re.compile(
    r"\b(?:of|from|on|at|node|host|worker|pod|machine|dmesg|journal\w*|syslog|kernel log)"
    r"[:\s(@]{1,3}([a-z][a-z0-9-]*\d[\w.-]*)"
    r"|([a-z][a-z0-9]*-[a-z0-9-]*\d|(?:node|host|gpu|worker|[dh]gx)\d+)$",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\b(?:step|epoch|phase|stage|run|attempt|trial|exp|task|part|iter|iteration|fold|job|round"
    r"|chunk|section|layer|checkpoint|ckpt|version|seed|config|model|line|train|eval|test)"
    r"s?[-_ #:]{0,2}\d",
    re.IGNORECASE,
)
# A machine's own controller has a name of its own, which no scheduler knows.
_CONTROLLER = re.compile(r"^(?:bmc|ipmi|ilo|idrac|ibmc)[-.]|[-.](?:bmc|ipmi|ilo|idrac|ibmc|oob)$")
_RULE = re.compile(r"-{5,}\s*$")
_NAME = re.compile(r"[A-Za-z](?:[^\W\d]|[.-])*\d[\w.-]*$")


def sections(lines: Sequence[Line], marks: Iterable[Marked]) -> Mapping[int, tuple[Section, ...]]:
    """Give the headings of each file in order; one without a name ends the section before it."""
    found: dict[int, dict[int, Section]] = {}
    for mark in marks:
        if mark.kind == "section":
            rank = mark.facts.get("rank", "")
            section = Section(
                mark.line.number, mark.facts.get("host"), int(rank) if rank.isdecimal() else None
            )
            found.setdefault(mark.line.file, {})[section.number] = section
    for file, section in (*_drawn(lines), *_between_rules(lines)):
        found.setdefault(file, {})[section.number] = section
    return {file: tuple(own[n] for n in sorted(own)) for file, own in found.items()}


def _drawn(lines: Iterable[Line]) -> Iterator[tuple[int, Section]]:
    """Find headings drawn with signs; what merely counts (`=== step 17 ===`) is none.

    A heading of the same make that names nobody ends the section.
    """
    opened: dict[int, str] = {}
    for line in lines:
        sign = line.raw[:1]
        if sign not in _DRAWN or line.raw[1:2] != sign:
            continue
        heading = _HEADING.match(line.raw)
        if heading is None or _COUNTED.search(heading[1]):
            continue
        rank, host = _OF_RANK.search(heading[1]), _OF_HOST.search(heading[1])
        if rank or host:
            opened[line.file] = sign
            name = _of_controller(host[1] or host[2]) if host else None
            yield line.file, Section(line.number, name, int(rank[1]) if rank else None)
        elif opened.get(line.file) == sign:
            yield line.file, Section(line.number)


def _of_controller(name: str) -> str:
    """Give the name of the machine that a controller belongs to."""
    return _CONTROLLER.sub("", name)


def _between_rules(lines: Sequence[Line]) -> Iterator[tuple[int, Section]]:
    """Find names that stand alone between two rules of dashes."""
    for (above, name), (_, below) in pairwise(pairwise(lines)):
        if (
            name.raw
            and _RULE.match(above.raw)
            and _RULE.match(below.raw)
            and _NAME.match(name.raw)
            and above.file == below.file
            and below.number - above.number == 2
        ):
            yield below.file, Section(below.number, name.raw.strip())
