"""Name where the fault may sit: the printer of the evidence, or the peer that it accuses."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from app.model import Detected, Finding, Located, Sighting, Suspect
from app.rulebook.rulebook import Rulebook

_MOST = 8
_WAITS = ("NCCLTimeoutError", "NCCLRemoteError", "Stalled")


def suspects(root: Finding, detected: Detected, rulebook: Rulebook) -> tuple[Suspect, ...]:
    """Give the likeliest places first; none where the cause has no place (a wrong argument)."""
    signal = rulebook.signal_named.get(root.signal)
    accused = signal.suspect if signal else "printer"
    if accused == "nobody":
        return ()
    where = detected.located
    if accused == "peer":
        named = _peers(root, where)
        if named:
            return named
    if root.cause in _WAITS:
        silent = _silent(root, where)
        if silent:
            return silent
    return _printers(root, where)


def _printers(root: Finding, where: Located) -> tuple[Suspect, ...]:
    """Who printed it, the first to do so in front; when everybody did, nobody stands out."""
    found: dict[tuple[str | None, int | None], Suspect] = {}
    for sighting in root.sightings:
        suspect = _printer(sighting, where)
        key = (suspect.host, suspect.rank)
        if key != (None, None) and key not in found:
            why = "first to fail" if not found else "failed as well"
            found[key] = Suspect(suspect.host, suspect.rank, suspect.gpu, suspect.nic, why)
    return tuple(found.values())[:_MOST]


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


def _peers(root: Finding, where: Located) -> tuple[Suspect, ...]:
    blamed: Counter[tuple[str | None, int | None]] = Counter()
    for sighting in root.sightings:
        facts = sighting.facts
        rank = _number(facts.get("peer_rank"))
        address = facts.get("peer_host") or facts.get("peer")
        if address is None and rank is None:
            continue
        bare = re.sub(r"<\d+>$|:\d+$", "", address) if address else None
        host = where.host_of_ip.get(bare, bare) if bare else where.host_of_rank.get(rank or 0)
        blamed[host, rank] += 1
    return tuple(
        Suspect(host, rank, why=f"blamed by {count} line{'s' * (count > 1)}")
        for (host, rank), count in blamed.most_common(_MOST)
    )


def _silent(root: Finding, where: Located) -> tuple[Suspect, ...]:
    """The ranks that do not complain, if they are few among many that do."""
    complaining = set(_ranks(root.sightings))
    known = complaining | set(where.host_of_rank)
    missing = sorted((known | set(range(max(complaining, default=-1) + 1))) - complaining)
    if not complaining or not missing or len(missing) > max(1, len(complaining) // 3):
        return ()
    return tuple(
        Suspect(
            where.host_of_rank.get(rank),
            rank,
            where.gpu_of_rank.get(rank),
            why="the only rank that did not time out"
            if len(missing) == 1
            else "did not time out while others did",
        )
        for rank in missing[:_MOST]
    )


def _ranks(sightings: Iterable[Sighting]) -> Sequence[int]:
    found = []
    for sighting in sightings:
        rank = _number(sighting.facts.get("rank"))
        rank = sighting.line.rank if rank is None else rank
        if rank is not None:
            found.append(rank)
    return found


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
