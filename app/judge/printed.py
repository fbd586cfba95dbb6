"""Turn a line of evidence into places: who printed it, and whom it names.

What the line's facts say goes before its prefix, the prefix before the heading above it, and all of
that before what its words say in passing (`on node gpu-17`, `rank 3`).
"""

import re
from collections.abc import Iterator

from app.located import Located, Suspect, whole
from app.model import Line, Marked, Sighting

# OOMKilling  node/gpu-n7   on host gpu-17   hostname: gpu-17   virtual machine gpu-17
_HOST_IN_WORDS = re.compile(
    r"(?:\bnodes?/"
    r"|\b(?:on|from|at|[Tt]he|virtual) (?:the )?(?:compute |execution )?"
    r"(?:node|host|machine|worker|server|replica|instance) "
    r"|\b(?:host|hostname|node|nodename|node_name|machine|instance) ?[=:] ?[\"']?)"
    r"([A-Za-z][\w-]*\d(?:[\w.-]*\w)?)"
)
_RANK_IN_WORDS = re.compile(r"\b(?:[Gg]lobal )?(?:[Rr]ank|RANK)[ :=#]{1,2}(\d{1,6})\b")
# # messages of n7: Aug 20 19:39:41 n7 kernel: nfs: server nas-2 not responding
_HOST_OF_KERNEL = re.compile(
    r"\b(?:[A-Z][a-z]{2} [ \d]\d |\d{4}-\d\d-\d\d[T ])\d\d:\d\d:\d\d\S* "
    r"([A-Za-z][\w.-]{0,62}) kernel: "
)
# EDAC MC3: 1 UE … (channel:2 slot:0 … rank:0 bg:1   [Hardware Error]: node:0 card:1 module:0 rank:0
_RANKS_OF_MEMORY = re.compile(r"\bEDAC \w+:|\[Hardware Error\]|\bDIMM")
# cn[0412]   cn[0411-0412,0415]
_RANGE = re.compile(r"([A-Za-z][\w.-]*)\[(\d[\d,-]*)\]$")
_MOST_OF_RANGE = 4


def printer(sighting: Sighting, where: Located) -> Suspect:
    """Say who printed a line; an empty place if nothing tells."""
    line, facts = sighting.line, sighting.facts
    rank = whole(facts.get("rank"))
    rank = where.rank_of_local(whole(facts.get("local_rank"))) if rank is None else rank
    rank = rank_at(line, where) if rank is None else rank
    host = facts.get("host") or line.host or where.section(line.file, line.number).host
    rank = _user(facts.get("gpu"), host, where) if rank is None else rank
    if host is None and facts.get("ip"):
        host = where.host_at(facts["ip"])
    if host is None and rank is not None:
        host = where.host_of_rank.get(rank)
    gpu = facts.get("gpu") or (where.gpu_of_rank.get(rank) if rank is not None else None)
    told = Suspect(host, rank, gpu, facts.get("nic"))
    if host or rank is not None:
        return told
    named = in_words(line, told)
    return named if named != told else _in_text(facts.get("message", ""), told)


def _user(gpu: str | None, host: str | None, where: Located) -> int | None:
    """Give the rank that uses a GPU; other hosts have GPUs at the same address."""
    rank = where.rank_on_gpu(gpu)
    if rank is None or host is None:
        return rank
    return rank if where.host_of_rank.get(rank) in (None, host) else None


def rank_at(line: Line, where: Located) -> int | None:
    """Give the rank of a line: its own, that of its label, or that of the heading above it."""
    if line.rank is not None:
        return line.rank
    section = where.section(line.file, line.number)
    if section.rank is not None:
        return section.rank
    return where.rank_of_stream.get((line.file, line.stream))


def in_words(line: Line, told: Suspect = Suspect()) -> Suspect:  # noqa: B008  # a frozen value
    """Add the host and rank that a line names in passing, to what is known of its place."""
    return _in_text(line.text, told)


def _in_text(text: str, told: Suspect) -> Suspect:
    host = _HOST_OF_KERNEL.search(text) or _HOST_IN_WORDS.search(text)
    rank = _RANK_IN_WORDS.search(text)
    if rank and _RANKS_OF_MEMORY.search(text):
        rank = None  # a row of chips on a memory module
    return Suspect(
        told.host or (host[1] if host else None),
        int(rank[1]) if rank and told.rank is None else told.rank,
        told.gpu,
        told.nic,
    )


def peers(sighting: Sighting, where: Located) -> Iterator[tuple[str | None, int | None]]:
    """Give the hosts and ranks that a line blames."""
    facts = sighting.facts
    rank = whole(facts.get("peer_rank"))
    address = facts.get("peer_host") or facts.get("peer")
    if address is None and rank is None:
        host = in_words(sighting.line).host
        if host:
            yield host, None
        return
    if address is None:
        yield where.host_of_rank.get(rank or 0), rank
        return
    bare = re.sub(r"<\d+>$|:\d+$", "", address)
    for name in spelled_out(bare):
        yield where.host_at(name), rank


def spelled_out(hosts: str) -> list[str]:
    """Spell a short range of hosts out; a long one names nobody."""
    found = _RANGE.match(hosts)
    if found is None:
        return [hosts]
    numbers: list[str] = []
    for part in found[2].split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            return [hosts]
        end = int(last or first)
        if end - int(first) >= _MOST_OF_RANGE:
            return []
        numbers += [f"{n:0{len(first)}}" for n in range(int(first), end + 1)]
    return [found[1] + n for n in numbers] if len(numbers) <= _MOST_OF_RANGE else []


def ended(mark: Marked, where: Located) -> Suspect:
    """Say which process a launcher reports to have ended."""
    rank = whole(mark.facts.get("rank"))
    if rank is None:
        rank = where.rank_of_local(whole(mark.facts.get("local_rank")))
    host = mark.facts.get("host") or mark.line.host
    if host is None and rank is not None:
        host = where.host_of_rank.get(rank)
    return Suspect(host, rank)
