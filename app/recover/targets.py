"""Which nodes to take out: those that the proofs of the root name, and no other.

Taking out a healthy node costs as much as leaving a broken one in, so what merely accompanies a
proof (a second node with a warning, a neighbour that was blamed) does not suffice. The likeliest
suspect of a proof may be known by its process or its address alone.
"""

from collections.abc import Collection, Sequence

from app.located import Suspect
from app.model import Finding, Job, Verdict
from app.recover.commands import is_node

_MOST = 2
_FOLLOWS = ("NCCLTimeoutError", "NCCLRemoteError", "CUDAError", "Stalled", "NVLinkError")
_PLACES = ("host", "peer_host", "peer", "gpu")


def nodes_to_take_out(
    root: Finding,
    verdict: Verdict,
    job: Job,
    only: Sequence[str] = (),
    *,
    blames_others: bool = False,
) -> tuple[str, ...]:
    """Name at most two nodes of the job; `only` narrows them to those of its hosts, if any.

    Where the lines of the root blame others, who printed them is named by none.
    """
    accused = [
        suspect.host
        for number, suspect in enumerate(verdict.suspects[:_MOST])
        if suspect.host
        and is_node(suspect.host)
        and (not number or _is_named(suspect, root, blames_others))
    ]
    narrowed = [host for host in accused if host in only]
    hosts = (_as_in_the_job(host, job.nodes) for host in narrowed or accused)
    return tuple(dict.fromkeys(host for host in hosts if host))


def is_borne_out(root: Finding, verdict: Verdict, began_late: Collection[str] = ()) -> bool:
    """Say whether a mere warning of a driver about a GPU was followed by what it leads to.

    What is in `began_late` began so long after it that it came of something else. What a rank logs
    in passing is no driver's word.
    """
    named = root.strength == "clue" and any(
        "gpu" in sighting.facts and not sighting.doubt.startswith("rank:")
        for sighting in root.sightings
    )
    followed = {told.cause for told in verdict.explained}.difference(began_late)
    return named and not followed.isdisjoint(_FOLLOWS)


def _is_named(suspect: Suspect, root: Finding, blames_others: bool) -> bool:
    named: set[str | None] = set()
    for sighting in root.sightings:
        if sighting.strength != root.strength:
            continue
        named.update(sighting.facts.get(name) for name in _PLACES)
        named.add(f"rank {sighting.facts.get('peer_rank')}")
        if not blames_others:
            own = sighting.line
            named.update((own.host, f"rank {own.rank}", f"rank {sighting.facts.get('rank')}"))
    rank = None if suspect.rank is None else f"rank {suspect.rank}"
    return not named.isdisjoint({suspect.host, suspect.gpu, rank} - {None})


def _as_in_the_job(host: str, nodes: Sequence[str]) -> str | None:
    """Give the node as the scheduler calls it; a node that is not the job's is nobody's to judge.

    Where the nodes are told as a range, `gpu[01-16]`, nothing can be said.
    """
    if not nodes or any("[" in node for node in nodes):
        return host
    short = host.partition(".")[0]
    return next((node for node in nodes if node.partition(".")[0] == short), None)
