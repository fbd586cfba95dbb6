"""Where ranks run, from whatever the log gives: launcher tables, NCCL's account, prefixes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from app.model import Line, Located, Marked

_ADDRESS = re.compile(r"[0-9.]+|\[?[0-9a-f:]+\]?")
_K = TypeVar("_K")
_TABLE_ROWS = 5  # torchelastic tells time, host, rank, exit code of one process on lines in a row


def locate(lines: Iterable[Line], marks: Sequence[Marked]) -> Located:
    """Map ranks to hosts and GPUs, and addresses to hosts; the commonest answer is taken."""
    seen: set[str] = set()
    ranks: set[int] = set()
    hosts: dict[int, Counter[str]] = {}
    gpus: dict[int, Counter[str]] = {}
    addresses: dict[str, Counter[str]] = {}
    for line in lines:
        ranks.update([line.rank] if line.rank is not None else [])
        seen.update([line.host] if line.host else [])
        if line.rank is not None and line.host:
            hosts.setdefault(line.rank, Counter())[line.host] += 1
    for mark in _of_the_whole_job(joined(marks)):
        rank = _number(mark.facts.get("rank"))
        if rank is None:
            rank = mark.line.rank
        host = mark.facts.get("host") or mark.line.host
        ranks.update([rank] if rank is not None else [])
        seen.update([host] if host else [])
        if rank is not None and host:
            hosts.setdefault(rank, Counter())[host] += 10
        if rank is not None and mark.facts.get("gpu"):
            gpus.setdefault(rank, Counter())[mark.facts["gpu"]] += 1
        if mark.facts.get("ip") and host:
            addresses.setdefault(mark.facts["ip"], Counter())[host] += 1
    seen = {host for host in seen if not _ADDRESS.fullmatch(host)} or seen
    return Located(
        host_of_rank=_commonest(hosts),
        gpu_of_rank=_commonest(gpus),
        host_of_ip=_commonest(addresses),
        only_host=next(iter(seen)) if len(seen) == 1 else None,
        world=max(ranks, default=-1) + 1,
    )


def joined(marks: Sequence[Marked]) -> Iterator[Marked]:
    """Join the rows of a table: marks of neighbouring lines whose facts add to each other."""
    table: Marked | None = None
    rows: set[str] = set()
    for mark in marks:
        if mark.kind not in ("exit", "place"):
            continue
        if table is not None and mark.mark not in rows and _belongs(table, mark):
            table = replace(table, facts={**mark.facts, **table.facts})
            rows.add(mark.mark)
            continue
        if table is not None:
            yield table
        table, rows = mark, {mark.mark}
    if table is not None:
        yield table


def exits(marks: Sequence[Marked]) -> tuple[Marked, ...]:
    """Give each process that ended once, with all that several reports tell of its pid."""
    found: list[Marked] = []
    of_pid: dict[tuple[str, str], int] = {}
    for mark in joined(marks):
        pid = mark.facts.get("pid")
        key = (pid or "", mark.facts.get("code", ""))
        if mark.kind not in ("exit", "place") or not {"code", "signal"} & set(mark.facts):
            continue
        if pid and key in of_pid:
            known = found[of_pid[key]]
            found[of_pid[key]] = replace(known, facts={**mark.facts, **known.facts})
            continue
        if pid:
            of_pid[key] = len(found)
        found.append(mark)
    return tuple(found)


def _belongs(table: Marked, row: Marked) -> bool:
    if row.line.file != table.line.file or row.line.stream != table.line.stream:
        return False
    if not 0 <= row.line.number - table.line.number <= _TABLE_ROWS:
        return False
    return all(table.facts.get(name, value) == value for name, value in row.facts.items())


def _of_the_whole_job(marks: Iterable[Marked]) -> list[Marked]:
    """Leave out places within sub-groups, whose ranks are counted anew."""
    found = list(marks)
    world = max((_number(mark.facts.get("world")) or 0 for mark in found), default=0)
    return [m for m in found if "world" not in m.facts or _number(m.facts["world"]) == world]


def _commonest(counted: Mapping[_K, Counter[str]]) -> dict[_K, str]:
    return {key: counter.most_common(1)[0][0] for key, counter in counted.items()}


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None
