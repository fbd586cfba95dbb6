"""Leave out what a scheduler or a kernel tells of other jobs, of which their logs hold many.

So do tables in which a tool lists all that it knows: an object is of this job if its name is heard
elsewhere, and if it is not, nobody knows whose it is.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from app.model import Line, Marked, Sighting

_MOST_NAMES = 256  # that are looked for; a table of more lists a cluster, not a job
_MOST = 4  # runs that may be in one log; more are those of all that ran on a node
# JobId=51207   StepId=51207.0   JobId=51207_3(51300), a task of an array and its own number
_NAMED = re.compile(r"\b(?:Job|Step)I[dD]=(\d+)(?:_(\d+))?(?:\((\d+)\))?")
_OF_GROUP = re.compile(r"\btask_memcg=/\S*\bjob_(\d+)\b")  # of the process that the kernel killed

Places = Collection[tuple[int, int]]


def of_others(sightings: Sequence[Sighting], marks: Iterable[Marked]) -> Places:
    """Give the lines that name another job first, where the numbers of this one are known.

    The kernel names the job of a process once, and then tells of its pid.
    """
    own = {mark.facts["job"] for mark in marks if mark.kind == "job"}
    if not own or len(own) > _MOST:
        return ()
    others = [s for s in sightings if _names_another(s.line.raw, own)]
    ended = {_process(s) for s in others if "pid" in s.facts}
    others += [s for s in sightings if _process(s) in ended]
    return {(s.line.file, s.line.number) for s in others}


def _process(sighting: Sighting) -> tuple[str, str | None, str | None]:
    return sighting.signal, sighting.line.host, sighting.facts.get("pid")


def unheard_of(sightings: Sequence[Sighting], lines: Sequence[Line]) -> Places:
    """Give the lines that list an object which no other line names.

    A machine is one of the job where no line says on which it was printed.
    """
    names_hosts = any(line.host for line in lines)
    listed = [(s.line, name) for s in sightings if (name := _listed(s, hosts=names_hosts))]
    rows = {(line.file, line.number) for line, _ in listed}
    names = list(dict.fromkeys(name for _, name in listed))[:_MOST_NAMES]
    heard = {name for name in names if any(_is_named(name, line, rows) for line in lines)}
    return {(line.file, line.number) for line, name in listed if name not in heard}


def _listed(sighting: Sighting, *, hosts: bool) -> str | None:
    return sighting.facts.get("listed") or (sighting.facts.get("listed_host") if hosts else None)


def _is_named(name: str, line: Line, rows: Places) -> bool:
    if name not in line.raw or (line.file, line.number) in rows:
        return False
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", line.raw) is not None


def as_told(sighting: Sighting, others: Places) -> Sighting:
    """Strike what is told of another job."""
    if (sighting.line.file, sighting.line.number) not in others:
        return sighting
    return replace(sighting, strength="context", doubt="hearsay: of another job", stands=False)


def _names_another(text: str, own: Collection[str]) -> bool:
    named = _NAMED.search(text) or _OF_GROUP.search(text)
    return named is not None and set(named.groups("")).isdisjoint(own)
