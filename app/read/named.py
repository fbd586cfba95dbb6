"""What a file's name tells of its printer: the rank or the host whose output it holds.

rank_3.log  worker-rank12.out  attempt_0/3/stderr.log  gpu-node-17.log  node2.dmesg.txt
console-gpu17.log
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
# What a machine writes, and not a job: there the name beside it is the machine's.
_OF_MACHINE = r"(?:console|dmesg|kern(?:el)?|syslog|messages|journal(?:ctl)?|ipmi|sel|bmc|slurmd)"
_NAMES = r"([a-z][a-z0-9]*(?:-[a-z0-9]+)*?-?\d+)"
_MACHINE = re.compile(
    rf"{_OF_MACHINE}[-_.]{_NAMES}(?:[-_.][a-z]+)*|{_NAMES}[-_.]{_OF_MACHINE}(?:[-_.][a-z]+)*",
    re.IGNORECASE,
)
_NO_HOST = re.compile(
    r"attempt|chunk|epoch|err|job|log|out|part|phase|rank|requeue|restart|retry|run|slurm|stage|std"
    r"|step|task|torchrun|train|try|version",
    re.IGNORECASE,
)


def printers(names: Sequence[str]) -> tuple[Prefix, ...]:
    """Give for each file of a job the rank and host that its name tells.

    A host is believed where it stands beside `dmesg` or the like, and otherwise only where the
    files of the job bear different ones.
    """
    ranks = [_rank(name) for name in names]
    machines = [_machine(name) for name in names]
    hosts = [told or _host(name) for told, name in zip(machines, names, strict=True)]
    if len({host for host in hosts if host}) < 2:
        hosts = machines
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


def _machine(name: str) -> str | None:
    found = _MACHINE.fullmatch(PurePath(name).name)
    return (found[1] or found[2]) if found else None


def _host(name: str) -> str | None:
    stem = PurePath(name).name.split(".")[0]
    return stem if _HOST.fullmatch(stem) and not _NO_HOST.search(stem) else None
