"""Where ranks run, from whatever the log gives: launcher tables, NCCL's account, prefixes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeVar

from app.model import Line, Located, Marked

K = TypeVar("K")


def locate(lines: Iterable[Line], marks: Iterable[Marked]) -> Located:
    """Map ranks to hosts and GPUs, and addresses to hosts; the commonest answer is taken."""
    hosts: dict[int, Counter[str]] = {}
    gpus: dict[int, Counter[str]] = {}
    addresses: dict[str, Counter[str]] = {}
    for line in lines:
        if line.rank is not None and line.host:
            hosts.setdefault(line.rank, Counter())[line.host] += 1
    for mark in marks:
        rank = _number(mark.facts.get("rank"))
        if rank is None:
            rank = mark.line.rank
        host = mark.facts.get("host") or mark.line.host
        if rank is not None and host:
            hosts.setdefault(rank, Counter())[host] += 10
        if rank is not None and mark.facts.get("gpu"):
            gpus.setdefault(rank, Counter())[mark.facts["gpu"]] += 1
        if mark.facts.get("ip") and host:
            addresses.setdefault(mark.facts["ip"], Counter())[host] += 1
    host_of_rank = _commonest(hosts)
    return Located(
        host_of_rank=host_of_rank,
        gpu_of_rank=_commonest(gpus),
        host_of_ip=_commonest(addresses),
        rank_of_host=_only_rank(host_of_rank),
    )


def _commonest(counted: Mapping[K, Counter[str]]) -> dict[K, str]:
    return {key: counter.most_common(1)[0][0] for key, counter in counted.items()}


def _only_rank(host_of_rank: Mapping[int, str]) -> dict[str, int]:
    ranks: dict[str, list[int]] = {}
    for rank, host in host_of_rank.items():
        ranks.setdefault(host, []).append(rank)
    return {host: own[0] for host, own in ranks.items() if len(own) == 1}


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
