"""Name where the fault may sit: the printer of the evidence, or the peer that it accuses."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from app.judge.ends import common_end, lost_by_all, other_ends
from app.judge.exits import failed, first_exit, killed
from app.judge.one_place import merged
from app.judge.printed import in_words, peers, printer, rank_at
from app.located import Located, Suspect
from app.model import Detected, Finding, Sighting
from app.rulebook.rulebook import Rulebook

_MOST = 6
_LOOKED_AT = 256  # places that are compared with each other
_LOOPBACK = re.compile(r"127\.\d|::1$|localhost\b|0\.0\.0\.0$")
_WAITS = ("NCCLTimeoutError", "NCCLRemoteError", "Stalled")
_ON_WIRES = (*_WAITS, "NetworkError", "ConnectionError", "NodeFailure")
_OF_GPUS = ("CUDAError", "ECCError", "NVLinkError", "NodeFailure")


def suspects(root: Finding, detected: Detected, rulebook: Rulebook) -> tuple[Suspect, ...]:
    """Give the likeliest places first; none where the cause has no place (a wrong argument).

    Other findings of the same cause tell of the same fault: often one line has the host and
    another the GPU. Who merely waited is never accused, but the few that did not may be. Where
    the evidence names nobody, the launcher's first failed process is the one to look at.
    """
    where = detected.located
    alike = [root, *(f for f in detected.findings if f.cause == root.cause and f is not root)]
    named = list(common_end(alike, where)) if root.cause in _ON_WIRES else []
    known = (f for f in alike if not detected.leads or not _is_of_series(f, rulebook))
    named += [place for finding in known for place in _accused(finding, where, rulebook)]
    if root.cause == "NetworkError":
        named += other_ends(alike, where, rulebook)
    if root.cause in _WAITS:
        named += _of_waits(detected)
    elif root.cause in _ON_WIRES and not any(place.host for place in named):
        named += detected.leads
    if _is_everybody(named, where) and not _has_hardware(root):
        named = []
        if not _is_of_a_machine(root, rulebook):
            return ()
    elif not any(place.rank is not None for place in named):
        named += _whose_gpu(root, detected, rulebook)
        has_host = any(place.host for place in named)
        lone = _alone(root, detected, rulebook) if root.cause not in _WAITS else ()
        named += [place for place in lone if place.rank is not None or not has_host]
    alone = {place.rank for place in named}
    if len(alone) == 1 and not any(p.host for p in named) and not alone & {*where.host_of_rank}:
        named += lost_by_all(detected, rulebook) if root.cause not in _WAITS else ()
    if not named and _is_of_a_machine(root, rulebook):
        only = [Suspect(where.only_host, why="the only host of the job")]
        named = only if where.only_host else list(detected.leads[:1])
    return _told(named, where)


def of_a_death(detected: Detected) -> tuple[Suspect, ...]:
    """Name the processes that were killed, where nothing else is known."""
    return _told([*first_exit(detected), *detected.leads], detected.located)


def _told(named: Sequence[Suspect], where: Located) -> tuple[Suspect, ...]:
    away = (p for p in named if p.host is None or not _LOOPBACK.match(p.host))
    places = (
        replace(p, host=where.host_of_rank.get(p.rank), gpu=p.gpu or where.gpu_of_rank.get(p.rank))
        if p.host is None and p.rank is not None
        else p
        for p in islice(away, _LOOKED_AT)
    )
    return tuple(replace(p, host=p.host or where.only_host) for p in merged(places))[:_MOST]


def _accuses_nobody(finding: Finding, rulebook: Rulebook) -> bool:
    signal = rulebook.signal_named.get(finding.signal)
    return signal is not None and signal.suspect == "nobody"


def _is_of_series(finding: Finding, rulebook: Rulebook) -> bool:
    """Say whether readings tell it, which one rank prints for all."""
    return finding.cause == "Stalled" and finding.signal not in rulebook.signal_named


def _blames_others(finding: Finding, rulebook: Rulebook) -> bool:
    signal = rulebook.signal_named.get(finding.signal)
    return signal is not None and signal.suspect != "printer"


def _is_of_a_machine(root: Finding, rulebook: Rulebook) -> bool:
    cause = rulebook.causes.get(root.cause)
    if cause is None or cause.domain != "infrastructure" or root.cause in _WAITS:
        return False
    return not _accuses_nobody(root, rulebook)


def _has_hardware(root: Finding) -> bool:
    return any("gpu" in sighting.facts or "nic" in sighting.facts for sighting in root.sightings)


def _is_everybody(named: Sequence[Suspect], where: Located) -> bool:
    """Say whether so many ranks failed alike that none of them stands out."""
    ranks = {place.rank for place in named if place.rank is not None}
    return len(ranks) >= max(2, where.world // 2 + 1)


def _alone(root: Finding, detected: Detected, rulebook: Rulebook) -> Iterator[Suspect]:
    """Name the one process that failed, where the evidence itself accuses nobody.

    A wrong setting is no rank's fault; yet if one rank among several met it, that is where to look.
    """
    where = detected.located
    waited_for = tuple(_silent(detected, where))
    if not _accuses_nobody(root, rulebook):
        near = {sighting.line.file for sighting in root.sightings}
        yield from waited_for or first_exit(detected, _that_waited(detected, where), near)
        return
    ranks = {rank for s in root.sightings if (rank := rank_at(s.line, where)) is not None}
    named = {in_words(s.line).rank for s in root.sightings} - {None}
    if led := [lead for lead in detected.leads if lead.rank in named]:
        yield from led
    elif len(ranks) == 1 and where.world > 1:
        yield replace(printer(root.sightings[0], where), why="the only rank that met it")
    elif not ranks and waited_for:
        yield from waited_for
    elif not ranks and len(detected.exits) > 1:
        places = [place for place in failed(detected) if place.rank is not None]
        yield from places if len(places) == 1 else ()


def _whose_gpu(root: Finding, detected: Detected, rulebook: Rulebook) -> Iterator[Suspect]:
    """The one rank whose own GPU failed, where who tells of it (a driver, a kernel) knows no ranks.

    Who blames a peer says nothing of a GPU of its own.
    """
    why = rulebook.relation.link((root.cause, root.signal), ("CUDAError", ""))
    if root.cause not in _OF_GPUS and why is None:
        return
    where = detected.located
    alike = (
        f
        for f in detected.findings
        if f.cause in _OF_GPUS and f is not root and not _blames_others(f, rulebook)
    )
    ranks = {_rank(sighting, where) for finding in alike for sighting in finding.sightings}
    if len(ranks := ranks - {None}) == 1:
        yield Suspect(rank=ranks.pop(), why="the only rank whose GPU failed")


def _that_waited(detected: Detected, where: Located) -> set[int]:
    """The ranks that waited in vain or lost a peer, as they say: for no fault of theirs."""
    waits = (f for f in detected.findings if f.cause in ("NCCLTimeoutError", "NCCLRemoteError"))
    ranks = {_rank(sighting, where) for finding in waits for sighting in finding.sightings}
    return {rank for rank in ranks if rank is not None}


def _of_waits(detected: Detected) -> Iterator[Suspect]:
    """Who was killed, stands out, or does not complain, while the others waited."""
    where = detected.located
    yield from detected.leads
    yield from killed(detected)
    if not detected.leads:
        stuck = tuple(_stuck(detected, where))
        yield from stuck or _silent(detected, where)


def _stuck(detected: Detected, where: Located) -> Iterator[Suspect]:
    """The one rank that says that it comes no further, and is not in the wait of the others."""
    hangs = [f for f in detected.findings if f.cause == "Stalled"]
    ranks = {_rank(sighting, where) for finding in hangs for sighting in finding.sightings}
    ranks -= {None, *_that_waited(detected, where)}
    if len(ranks) == 1:
        yield Suspect(rank=ranks.pop(), why="comes no further, as it says itself")


def _accused(finding: Finding, where: Located, rulebook: Rulebook) -> Iterable[Suspect]:
    signal = rulebook.signal_named.get(finding.signal)
    accused = signal.suspect if signal else "printer"
    if accused == "nobody":
        return ()
    if accused == "peer":
        return _peers(finding, where)
    return () if finding.cause == "NCCLTimeoutError" else _printers(finding, where)


def _printers(finding: Finding, where: Located) -> Iterable[Suspect]:
    """Who printed it, the first to do so in front."""
    for count, sighting in enumerate(finding.sightings):
        place = printer(sighting, where)
        if place != Suspect():
            yield replace(place, why="failed as well" if count else "first to fail")


def _peers(finding: Finding, where: Located) -> Iterable[Suspect]:
    """Whom the lines blame, with how many of them do."""
    blamed: Counter[tuple[str | None, int | None]] = Counter()
    for sighting in finding.sightings:
        blamed.update(peers(sighting, where))
    for (host, rank), count in blamed.most_common(_MOST):
        yield Suspect(host, rank, why=f"blamed by {count} line{'s' * (count > 1)}")


def _silent(detected: Detected, where: Located) -> Iterator[Suspect]:
    """The ranks that do not complain of a wait, if they are few among many that do."""
    if not any(finding.cause == "NCCLTimeoutError" for finding in detected.findings):
        return
    sightings = [sighting for finding in detected.findings for sighting in finding.sightings]
    complaining = {rank for sighting in sightings if (rank := _rank(sighting, where)) is not None}
    known = set(range(where.world))
    missing = sorted(known - complaining)
    if complaining and missing and len(missing) <= max(1, len(complaining) // 3):
        alone = "the only rank that did not time out"
        for rank in missing:
            why = alone if len(missing) == 1 else "did not time out while others did"
            yield Suspect(rank=rank, why=why)


def _rank(sighting: Sighting, where: Located) -> int | None:
    told = sighting.facts.get("rank", "")
    return int(told) if told.isdecimal() else rank_at(sighting.line, where)
