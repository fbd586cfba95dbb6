"""Name where the fault may sit: the printer of the evidence, or the peer that it accuses."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from app.model import Detected, Finding, Located, Sighting, Suspect
from app.rulebook.rulebook import Rulebook

_MOST = 8
_LOOKED_AT = 256  # places that are compared with each other
_STOPPED = ("-15", "143", "-2", "130")
_WAITS = ("NCCLTimeoutError", "NCCLRemoteError", "Stalled")


def suspects(root: Finding, detected: Detected, rulebook: Rulebook) -> tuple[Suspect, ...]:
    """Give the likeliest places first; none where the cause has no place (a wrong argument).

    Other findings of the same cause tell of the same fault: often one line has the host and
    another the GPU. Who merely waited is never accused, but the few that did not may be. Where
    the evidence names nobody, the launcher's first failed process is the one to look at.
    """
    where = detected.located
    if _accuses_nobody(root, rulebook):
        return ()
    alike = [root, *(f for f in detected.findings if f.cause == root.cause and f is not root)]
    named = [place for finding in alike for place in _accused(finding, where, rulebook)]
    if not named and root.cause in _WAITS:
        everything = [s for finding in detected.findings for s in finding.sightings]
        named = list(_silent(everything, where))
    if _is_everybody(named, where) and not _has_hardware(root):
        named = []
        if not _is_of_a_machine(root, rulebook):
            return ()
    elif not any(place.rank is not None for place in named) and root.cause not in _WAITS:
        named += _first_exit(detected)
    if not named and where.only_host and _is_of_a_machine(root, rulebook):
        named = [Suspect(where.only_host, why="the only host of the job")]
    return tuple(_on_only_host(_merged(named[:_LOOKED_AT]), where))[:_MOST]


def of_a_death(detected: Detected) -> tuple[Suspect, ...]:
    """Name the processes that were killed, where nothing else is known."""
    return tuple(_on_only_host(_merged(_first_exit(detected)), detected.located))[:_MOST]


def _accuses_nobody(finding: Finding, rulebook: Rulebook) -> bool:
    signal = rulebook.signal_named.get(finding.signal)
    return signal is not None and signal.suspect == "nobody"


def _is_of_a_machine(root: Finding, rulebook: Rulebook) -> bool:
    cause = rulebook.causes.get(root.cause)
    return cause is not None and cause.domain == "infrastructure" and root.cause not in _WAITS


def _has_hardware(root: Finding) -> bool:
    return any("gpu" in sighting.facts or "nic" in sighting.facts for sighting in root.sightings)


def _is_everybody(named: Sequence[Suspect], where: Located) -> bool:
    """Say whether so many ranks failed alike that none of them stands out."""
    ranks = {place.rank for place in named if place.rank is not None}
    return len(ranks) >= max(2, where.world // 2 + 1)


def _first_exit(detected: Detected) -> Iterator[Suspect]:
    """The first process that failed; those that a launcher then stopped (SIGTERM) come after."""
    failed = [mark for mark in detected.exits if mark.facts.get("code") not in ("0", "-0")]
    failed.sort(key=lambda mark: mark.facts.get("code") in _STOPPED)
    for mark in failed[:1]:
        rank = _number(mark.facts.get("rank"))
        host = mark.facts.get("host") or mark.line.host
        if host is None and rank is not None:
            host = detected.located.host_of_rank.get(rank)
        if rank is not None or host is not None:
            yield Suspect(host, rank, why="the first process that failed")


def _on_only_host(places: Iterable[Suspect], where: Located) -> Iterator[Suspect]:
    """Give places without a host the only one that the log knows."""
    found = list(places)
    for place in found:
        yield replace(place, host=place.host or where.only_host)


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
    for number, sighting in enumerate(finding.sightings):
        place = _printer(sighting, where)
        if place != Suspect():
            yield replace(place, why="failed as well" if number else "first to fail")


def _printer(sighting: Sighting, where: Located) -> Suspect:
    facts = sighting.facts
    rank = _number(facts.get("rank"))
    if rank is None:
        rank = sighting.line.rank
    host = facts.get("host") or sighting.line.host
    if host is None and facts.get("ip"):
        host = where.host_of_ip.get(facts["ip"], facts["ip"])
    if host is None and rank is not None:
        host = where.host_of_rank.get(rank)
    gpu = facts.get("gpu") or (where.gpu_of_rank.get(rank) if rank is not None else None)
    return Suspect(host, rank, gpu, facts.get("nic"))


def _peers(finding: Finding, where: Located) -> Iterable[Suspect]:
    """Whom the lines blame, with how many of them do."""
    blamed: Counter[tuple[str | None, int | None]] = Counter()
    for sighting in finding.sightings:
        facts = sighting.facts
        rank = _number(facts.get("peer_rank"))
        address = facts.get("peer_host") or facts.get("peer")
        if address is None and rank is None:
            continue
        bare = re.sub(r"<\d+>$|:\d+$", "", address) if address else None
        host = where.host_of_ip.get(bare, bare) if bare else where.host_of_rank.get(rank or 0)
        blamed[host, rank] += 1
    for (host, rank), count in blamed.most_common(_MOST):
        yield Suspect(host, rank, why=f"blamed by {count} line{'s' * (count > 1)}")


def _silent(sightings: Sequence[Sighting], where: Located) -> Iterable[Suspect]:
    """The ranks that do not complain, if they are few among many that do."""
    complaining = {rank for sighting in sightings if (rank := _rank(sighting)) is not None}
    known = set(range(where.world))
    missing = sorted(known - complaining)
    if complaining and missing and len(missing) <= max(1, len(complaining) // 3):
        alone = "the only rank that did not time out"
        for rank in missing:
            yield Suspect(
                where.host_of_rank.get(rank),
                rank,
                where.gpu_of_rank.get(rank),
                why=alone if len(missing) == 1 else "did not time out while others did",
            )


def _merged(places: Iterable[Suspect]) -> list[Suspect]:
    """Join what is known of one place: a host without a rank, a rank whose host comes later."""
    found: list[Suspect] = []
    for place in places:
        for index, known in enumerate(found):
            if _may_be_same(known, place):
                found[index] = Suspect(
                    known.host or place.host,
                    place.rank if known.rank is None else known.rank,
                    known.gpu or place.gpu,
                    known.nic or place.nic,
                    known.why,
                )
                break
        else:
            found.append(place)
    return found


def _may_be_same(one: Suspect, other: Suspect) -> bool:
    pairs = ((one.host, other.host), (one.rank, other.rank), (one.gpu, other.gpu))
    agreed = [a == b for a, b in pairs if a is not None and b is not None]
    return all(agreed) and (bool(agreed) or one.host is None or other.host is None)


def _rank(sighting: Sighting) -> int | None:
    rank = _number(sighting.facts.get("rank"))
    return sighting.line.rank if rank is None else rank


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
