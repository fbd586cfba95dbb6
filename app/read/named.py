"""What a file's name tells of its printer: the rank or the host whose output it holds.

rank_3.log  worker-rank12.out  attempt_0/3/stderr.log  gpu-node-17.log  node2.dmesg.txt
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from app.model import Prefix

_RANK = re.compile(r"(?:^|[^a-z])rank[-_.=]?(\d{1,6})(?!\d)", re.IGNORECASE)
# torchelastic's folders: <run>/attempt_0/3/stderr.log
_ELASTIC = re.compile(r"(?:^|/)attempt_\d+/(\d{1,6})/std(?:out|err)\.log$")
_HOST = re.compile(r"[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*?[-_]?\d+", re.IGNORECASE)
_NO_HOST = re.compile(
    r"attempt|chunk|epoch|err|job|log|out|part|phase|rank|requeue|restart|retry|run|slurm|stage|std"
    r"|step|task|torchrun|train|try|version",
    re.IGNORECASE,
)


def printers(names: Sequence[str]) -> tuple[Prefix, ...]:
    """Give for each file of a job the rank and host that its name tells.

    A host is believed only where the files of the job bear different ones.
    """
    ranks = [_rank(name) for name in names]
    hosts = [_host(name) for name in names]
    told = {host for host in hosts if host}
    if len(told) < 2:
        hosts = [None] * len(names)
    return tuple(Prefix(rank=rank, host=host) for rank, host in zip(ranks, hosts, strict=True))


def completed(prefix: Prefix, printer: Prefix) -> Prefix:
    """Fill in from the file's name what the line does not tell."""
    if (prefix.rank is None and printer.rank is not None) or (not prefix.host and printer.host):
        rank = printer.rank if prefix.rank is None else prefix.rank
        return replace(prefix, rank=rank, host=prefix.host or printer.host)
    return prefix


def _rank(name: str) -> int | None:
    found = _RANK.search(name) or _ELASTIC.search(name)
    return int(found[1]) if found else None


def _host(name: str) -> str | None:
    stem = PurePath(name).name.split(".")[0]
    return stem if _HOST.fullmatch(stem) and not _NO_HOST.search(stem) else None
