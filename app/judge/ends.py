"""The ends of connections that broke: the host that others lost, and who told of it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from app.judge.printed import peers, printer, rank_at
from app.located import Located, Suspect
from app.model import Detected, Finding
from app.rulebook.rulebook import Rulebook


def other_ends(
    findings: Iterable[Finding], where: Located, rulebook: Rulebook
) -> Iterator[Suspect]:
    """Who printed most of the lines that blame a peer: a broken link has two ends."""
    own: Counter[str] = Counter()
    for finding in findings:
        signal = rulebook.signal_named.get(finding.signal)
        if signal and signal.suspect == "peer":
            own.update(h for s in finding.sightings if (h := printer(s, where).host))
    for host, _ in own.most_common(2):
        yield Suspect(host, why="the other end of the connection")


def common_end(findings: Iterable[Finding], where: Located) -> Iterator[Suspect]:
    """The one host that several others lost, whichever side of the connection printed it."""
    others: dict[str, set[str]] = defaultdict(set)
    for finding in findings:
        for sighting in finding.sightings:
            own = printer(sighting, where).host
            for host, _ in peers(sighting, where) if own else ():
                if host and own and host != own:
                    others[host].add(own)
                    others[own].add(host)
    ends = sorted(others, key=lambda host: -len(others[host]))[:2]
    if len(ends) == 2 and len(others[ends[0]]) > len(others[ends[1]]):
        yield Suspect(ends[0], why=f"{len(others[ends[0]])} hosts lost their connection to it")


def lost_by_all(detected: Detected, rulebook: Rulebook) -> Iterator[Suspect]:
    """The one host that several ranks lost, which is where the one that failed had run."""
    where = detected.located
    losers: dict[str, set[int | None]] = defaultdict(set)
    for finding in detected.findings:
        signal = rulebook.signal_named.get(finding.signal)
        if signal is not None and signal.suspect == "peer":
            for sighting in finding.sightings:
                for host, _ in peers(sighting, where):
                    losers[host or ""].add(rank_at(sighting.line, where))
    if len(losers) == 1:
        host, ranks = losers.popitem()
        yield from [Suspect(host)] if host and len(ranks - {None}) > 1 else ()
