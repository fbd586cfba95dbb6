"""Which rank is in another collective than the rest, when all of them time out.

Ranks that wait for each other print the same operation, size and sequence number. One that prints
another has taken another way through the program; one whose last work that was handed to the GPU is
older never got to the collective that the others wait in. Numbers count within a process group, so
only what is said of one group is compared.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.located import Suspect
from app.model import Line

# WorkNCCL(SeqNum=912, OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000)
_WORK = re.compile(r"Work\w+\(SeqNum=(\d+), OpType=(\w+)(?:, NumelIn=(\d+))?")
# Rank 3 is running collective: CollectiveFingerPrint(SequenceNumber=12, OpType=BROADCAST, …[2]
_RUNS = re.compile(
    r"[Rr]ank (\d+) is running collective: CollectiveFingerPrint\((?:SequenceNumber=(\d+), )?"
    r"OpType=(\w+)(?:, TensorShape=\[([^\]]*)\])?"
)
_ENQUEUED = re.compile(r"[Ll]ast enqueued (?:NCCL )?work: (-?\d+)")
# [PG ID 2 PG GUID 3(tp) Rank 1]   [PG 0 (default_pg) Rank 3]   [PG 0 Rank 3]
_GROUP = re.compile(r"\[PG (?:ID )?(\d+)\b[^\[\]]{0,60} Rank (\d+)\]|\[Rank (\d+)\]")
# operations whose ranks may bring tensors of different sizes
_UNEVEN = ("ALLTOALL", "GATHER", "SCATTER", "SEND", "RECV", "COALESCED")
_MOST = 3


@dataclass(frozen=True, slots=True)
class _Wait:
    """What one rank was in when it gave up."""

    rank: int
    seq: int
    op: str
    size: str


def odd_ones(lines: Sequence[Line]) -> Iterator[Suspect]:
    """Name the few ranks whose collective, or whose last enqueued work, differs from the rest."""
    for waits in _waits(lines):
        yield from _differing(waits)
    for works in _enqueued(lines):
        yield from _behind(works)


def parted(lines: Sequence[Line]) -> bool:
    """Say whether few ranks are in another operation than the rest, at the same number."""
    return any(
        _few({wait.rank: wait.op for wait in waits}) and len({wait.seq for wait in waits}) == 1
        for waits in _waits(lines)
    )


def _waits(lines: Iterable[Line]) -> Iterator[list[_Wait]]:
    """Give what the ranks of each group waited in; of a rank its first word counts."""
    groups: dict[str, dict[int, _Wait]] = defaultdict(dict)
    for line in lines:
        if "Work" in line.text and (work := _WORK.search(line.text)):
            group, rank = _speaker(line)
            if rank is not None:
                wait = _Wait(rank, int(work[1]), work[2], work[3] or "")
                groups[group].setdefault(rank, wait)
        elif "is running collective" in line.text:
            for told, seq, op, size in _RUNS.findall(line.text):
                groups["fingerprint"][int(told)] = _Wait(int(told), int(seq or 0), op, size)
    for waits in groups.values():
        yield list(waits.values())


def _enqueued(lines: Iterable[Line]) -> Iterator[dict[int, int]]:
    """Give the last work of each rank that went to its GPU, group by group."""
    groups: dict[str, dict[int, int]] = defaultdict(dict)
    for line in lines:
        if "ast enqueued" in line.text and (last := _ENQUEUED.search(line.text)):
            group, rank = _speaker(line)
            if rank is not None:
                groups[group].setdefault(rank, int(last[1]))
    yield from groups.values()


def _speaker(line: Line) -> tuple[str, int | None]:
    """Tell group and rank; within a sub-group the number in brackets is not the job's rank."""
    told = _GROUP.search(line.text)
    group = told[1] if told and told[1] else ""
    if line.rank is not None or told is None:
        return group, line.rank
    number = told[2] if told[2] and told[1] == "0" else told[3]
    return group, int(number) if number else None


def _differing(waits: Sequence[_Wait]) -> Iterator[Suspect]:
    """Compare by operation first, then by number, then by size; the first that tells counts."""
    uneven = any(kind in wait.op for wait in waits for kind in _UNEVEN)
    views = (
        ({wait.rank: wait.op for wait in waits}, "is in {own} while the others are in {rest}"),
        ({wait.rank: str(wait.seq) for wait in waits}, "waits in number {own}, the others {rest}"),
        ({wait.rank: wait.size for wait in waits}, "brings {own} elements, the others {rest}"),
    )
    for of_rank, why in views[: 2 if uneven else 3]:
        few = _few(of_rank)
        if few:
            usual = Counter(of_rank.values()).most_common(1)[0][0]
            for rank in few:
                yield Suspect(rank=rank, why=why.format(own=of_rank[rank], rest=usual))
            return


def _few(of_rank: Mapping[int, str]) -> list[int]:
    """Give the ranks that differ from the majority, if they are few; of two, the later one."""
    (usual, count), *others = Counter(of_rank.values()).most_common()
    few = [rank for rank, value in of_rank.items() if value != usual]
    if len(of_rank) == 2 and others:
        return [max(of_rank)] if 0 in of_rank else []
    return few if len(few) <= min(_MOST, count // 2) else []


def _behind(works: Mapping[int, int]) -> Iterator[Suspect]:
    least = min(works.values())
    few = [rank for rank, work in works.items() if work == least]
    if len(few) <= min(_MOST, (len(works) - len(few)) // 2):
        for rank in few:
            yield Suspect(rank=rank, why=f"its last enqueued work is {least}, the lowest")
