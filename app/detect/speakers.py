"""Ranks behind labels that do not tell them: actors, processes of a node, files of one process.

`(Worker pid=4121, ip=10.4.0.17)` is rank 3 by the list that the trainer printed, by a line that has
both, or by its own words. `[default5]` is rank 5 of its node: the launch command tells which node.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from app.model import Line, Marked

_Label = tuple[int, str]
_PID = re.compile(r"pid=(\d+)(?:, ip=([\w.:-]+))?")
_LOCAL = re.compile(r"(?:^| )[A-Za-z_]+ (\d{1,4})$")
_OWN_WORDS = re.compile(r"(?:^|[\s|:>-] ?|\[)[rR]ank[ :=]{1,2}(\d{1,6})\b")


def first_rank(marks: Sequence[Marked], hosts: int) -> int | None:
    """Give the rank of local process 0; None where the log is of several nodes or does not tell.

    `hosts` is how many machines the log knows.
    """
    firsts = _told(marks, "first_rank")
    if len(firsts) == 1:
        return firsts.pop()
    nodes, each = _told(marks, "node_rank"), _told(marks, "processes")
    if nodes == {0}:
        return 0
    if len(nodes) == 1 and len(each) == 1:
        return nodes.pop() * each.pop()
    alone = not firsts and not nodes and hosts <= 1 and max(_told(marks, "nodes"), default=1) == 1
    return 0 if alone else None


def rank_of_labels(
    lines: Iterable[Line], marks: Sequence[Marked], first: int | None
) -> Mapping[_Label, int]:
    """Name the rank behind each label for which all that the log tells agrees."""
    beside: dict[_Label, set[int]] = defaultdict(set)
    in_words: dict[_Label, set[int]] = defaultdict(set)
    unlabelled: set[_Label] = set()
    of_pid = _Processes(marks)
    for line in lines:
        label = line.file, line.stream
        if line.rank is not None:
            beside[label].add(line.rank)
        elif "pid=" in line.stream:
            unlabelled.add(label)
            in_words[label].update(int(told) for told in _OWN_WORDS.findall(line.text[:200]))
        elif line.stream:
            unlabelled.add(label)
    found: dict[_Label, int] = {}
    for label in unlabelled | beside.keys():
        for ranks in (beside[label], of_pid(label[1]), in_words[label], _local(label[1], first)):
            if ranks:
                found.update({label: next(iter(ranks))} if len(ranks) == 1 else {})
                break
    return {**found, **_of_whole_files(marks, beside)}


class _Processes:
    """Ranks by process number, and by address where several hosts have that number."""

    def __init__(self, marks: Iterable[Marked]) -> None:
        self._ranks: dict[tuple[str, str | None], set[int]] = defaultdict(set)
        for mark in marks:
            pid, rank = mark.facts.get("pid"), mark.facts.get("rank", "")
            if mark.kind == "place" and pid and rank.isdecimal():
                self._ranks[pid, mark.facts.get("ip") or mark.facts.get("host")].add(int(rank))
                self._ranks[pid, None].add(int(rank))

    def __call__(self, stream: str) -> set[int]:
        told = _PID.search(stream) if self._ranks else None
        if told is None:
            return set()
        return self._ranks.get((told[1], told[2])) or self._ranks.get((told[1], None)) or set()


def _local(stream: str, first: int | None) -> set[int]:
    told = _LOCAL.search(stream) if first is not None else None
    return {first + int(told[1])} if told and first is not None else set()


def _of_whole_files(
    marks: Iterable[Marked], beside: Mapping[_Label, set[int]]
) -> Mapping[_Label, int]:
    """A file whose process names itself once, and that bears no other rank, is that process's."""
    told: dict[int, set[int]] = defaultdict(set)
    for mark in marks:
        rank = mark.facts.get("own_rank", "")
        if rank.isdecimal():
            told[mark.line.file].add(int(rank))
    for (file, _), ranks in beside.items():
        if file in told:
            told[file] |= ranks
    return {(file, ""): next(iter(ranks)) for file, ranks in told.items() if len(ranks) == 1}


def _told(marks: Iterable[Marked], name: str) -> set[int]:
    return {int(text) for mark in marks if (text := mark.facts.get(name, "")).isdecimal()}
