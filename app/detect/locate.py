"""Where ranks run, from whatever the log gives: launcher tables, NCCL's account, prefixes."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from app.detect.sections import sections
from app.detect.speakers import first_rank, rank_of_labels
from app.located import Located, pci_address, whole
from app.model import Line, Marked

_ADDRESS = re.compile(r"[0-9.]+|\[?[0-9a-f:]+\]?")
# ip-10-0-3-17   ip-10-0-3-17.ec2.internal
_ADDRESS_IN_NAME = re.compile(r"\bip-(\d{1,3})-(\d{1,3})-(\d{1,3})-(\d{1,3})(?:\.[\w.-]*\w)?\b")
_K = TypeVar("_K")
_TABLE_ROWS = 7  # torchelastic tells time, host, rank, exit code of one process on lines in a row


def locate(lines: Sequence[Line], marks: Sequence[Marked]) -> Located:
    """Map ranks to hosts and GPUs, and addresses to hosts; the commonest answer is taken."""
    told = _Told()
    for line in lines:
        told.by_line(line)
    for mark in _of_the_whole_job(_of_ranks(joined(marks))):
        told.by_mark(mark)
    seen = {host for host in told.seen if not _ADDRESS.fullmatch(host)} or told.seen
    first = first_rank(marks, len(seen))
    return Located(
        host_of_rank=_commonest(told.hosts),
        gpu_of_rank=_commonest(told.gpus),
        host_of_ip=_commonest(told.addresses),
        only_host=next(iter(seen)) if len(seen) == 1 else None,
        world=max(max(told.ranks, default=-1) + 1, told.world),
        rank_of_stream=rank_of_labels(lines, marks, first),
        rank_of_gpu={gpu: next(iter(own)) for gpu, own in told.users(first) if len(own) == 1},
        sections=sections(lines, marks),
        first_rank=first,
    )


class _Told:
    """What lines and marks say, counted."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.ranks: set[int] = set()
        self.world = 0
        self.hosts: dict[int, Counter[str]] = defaultdict(Counter)
        self.gpus: dict[int, Counter[str]] = defaultdict(Counter)
        self.addresses: dict[str, Counter[str]] = defaultdict(Counter)
        self._ranks_of_gpu: dict[int, set[int]] = defaultdict(set)
        self._locals_of_gpu: dict[int, set[int]] = defaultdict(set)

    def by_line(self, line: Line) -> None:
        if line.rank is not None:
            self.ranks.add(line.rank)
        if line.host:
            self.seen.add(line.host)
            if line.rank is not None:
                self.hosts[line.rank][line.host] += 1
        if "ip-" in line.raw:
            for name in _ADDRESS_IN_NAME.finditer(line.raw):
                self.addresses[".".join(name.groups())][name[0]] += 1

    def by_mark(self, mark: Marked) -> None:
        facts = mark.facts
        rank = whole(facts.get("rank"))
        rank = mark.line.rank if rank is None else rank
        host = facts.get("host") or mark.line.host
        self.world = max(self.world, whole(facts.get("world_size")) or 0)
        if mark.kind != "section" and host:
            self.seen.add(host)
        if rank is not None:
            self.ranks.add(rank)
            if host:
                self.hosts[rank][host] += 10
            if facts.get("gpu"):
                self.gpus[rank][facts["gpu"]] += 1
        if facts.get("ip") and host:
            self.addresses[facts["ip"]][host] += 1
        self._use(facts, rank)

    def _use(self, facts: Mapping[str, str], rank: int | None) -> None:
        address = pci_address(facts.get("gpu", ""))
        local = whole(facts.get("local_rank"))
        if address is not None and rank is not None:
            self._ranks_of_gpu[address].add(rank)
        elif address is not None and local is not None:
            self._locals_of_gpu[address].add(local)

    def users(self, first: int | None) -> Iterator[tuple[int, set[int]]]:
        """Give the ranks that use each GPU, by its address."""
        yield from self._ranks_of_gpu.items()
        for address, own in self._locals_of_gpu.items():
            if first is not None and address not in self._ranks_of_gpu:
                yield address, {first + local for local in own}


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
    for mark in _of_ranks(joined(marks)):
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
    told = {mark.facts.get("host") for mark in found if "local_rank" in mark.facts}
    return tuple(mark for mark in found if not _is_of_an_agent(mark, told))


def _is_of_an_agent(mark: Marked, told: Collection[str | None]) -> bool:
    """Say whether a task ended by itself whose processes, on the same host, tell of their ends."""
    facts = mark.facts
    return facts.keys() == {"host", "code"} and facts["host"] in told


def _of_ranks(marks: Iterable[Marked]) -> Iterator[Marked]:
    """Take the numbers of a scheduler's tasks for ranks, unless each task is an agent of several.

    An agent tells of its processes by their local ranks; `task 0` of srun is then the first node.
    """
    found = list(marks)
    agents = any(mark.kind == "exit" and "local_rank" in mark.facts for mark in found)
    for mark in found:
        if agents and mark.kind == "exit" and _is_of_a_task(mark):
            facts = {name: value for name, value in mark.facts.items() if name != "rank"}
            yield replace(mark, facts=facts)
        else:
            yield mark


def _is_of_a_task(mark: Marked) -> bool:
    facts = mark.facts
    return "host" in facts and "rank" in facts and not {"pid", "local_rank"} & set(facts)


def _belongs(table: Marked, row: Marked) -> bool:
    if row.line.file != table.line.file or row.line.stream != table.line.stream:
        return False
    if "order" in row.facts:  # the heading of the next table
        return False
    if not 0 <= row.line.number - table.line.number <= _TABLE_ROWS:
        return False
    return all(table.facts.get(name, value) == value for name, value in row.facts.items())


def _of_the_whole_job(marks: Iterable[Marked]) -> list[Marked]:
    """Leave out places within sub-groups, whose ranks are counted anew."""
    found = list(marks)
    world = max((whole(mark.facts.get("world")) or 0 for mark in found), default=0)
    return [m for m in found if "world" not in m.facts or whole(m.facts["world"]) == world]


def _commonest(counted: Mapping[_K, Counter[str]]) -> dict[_K, str]:
    return {key: counter.most_common(1)[0][0] for key, counter in counted.items()}
