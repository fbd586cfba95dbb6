"""Which cause or signal explains which.

Edges are written on causes, on their domains and on single signals. Chains of `always` edges are
followed through causes that are absent; the first scope met on the way binds the whole of it. An
`if_earlier` edge makes no chain: order says something about two things that are both there, and
through absent ones nearly everything would explain nearly everything. Circles of `always` edges
are refused at load, so that among any findings at least one has no explanation.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from app.rulebook.cause import Edge, EdgeKind, Explains, Scope


@dataclass(frozen=True, slots=True)
class Link:
    """How one thing explains another; `is_stated` in a rule, or follows from a chain of them."""

    kind: EdgeKind
    scope: Scope = "job"
    is_stated: bool = field(default=True, compare=False)


@dataclass(frozen=True)
class Relation:
    """Everything that each cause or signal explains, chains followed."""

    reach: Mapping[str, Mapping[str, Link]]

    def link(self, culprit: tuple[str, str], consequence: tuple[str, str]) -> Link | None:
        """Tell how a finding may explain another; both are given as (cause, signal).

        Of several ways the one in any order of lines wins, then the one among all ranks, then what
        a rule states. A cause explains itself only where a rule names the signal.
        """
        same = culprit[0] == consequence[0]
        ways = [
            link
            for name in culprit
            for target in (consequence[1:] if same else consequence)
            if (link := self.reach.get(name, {}).get(target))
        ]
        return max(ways, key=_breadth, default=None)


def _breadth(link: Link) -> tuple[bool, bool, bool]:
    return link.kind == "always", link.scope == "job", link.is_stated


def build(edges: Mapping[str, Explains], cause_of: Mapping[str, str]) -> Relation:
    """Follow all chains; `cause_of` maps each signal to its cause."""
    return Relation({name: _reach(name, edges, cause_of) for name in edges})


def _reach(
    start: str, edges: Mapping[str, Explains], cause_of: Mapping[str, str]
) -> dict[str, Link]:
    """Walk outwards along `always` edges; then add what comes next by `if_earlier`.

    An edge to the own cause leads nowhere: through it a signal would stand for those beside it.
    """
    reach: dict[str, Link] = {}
    waiting: deque[tuple[str, Scope]] = deque([(start, "job")])
    walked: set[tuple[str, Scope]] = set()
    while waiting:
        name, way = waiting.popleft()
        if (name, way) in walked:
            continue
        walked.add((name, way))
        onward = (name, cause_of[name]) if name in cause_of and name != start else (name,)
        for edge in (found for source in onward for found in _always(source, edges)):
            if edge.of not in (start, cause_of.get(name, name)):
                bound = edge.scope if way == "job" else way
                known = reach.get(edge.of)
                stated = name == start or (known is not None and known.is_stated)
                reach[edge.of] = Link("always", _wider(known, bound), stated)
                if not edge.alone:
                    waiting.append((edge.of, bound))
    for edge in edges[start].if_earlier:
        if edge.of != start:
            reach.setdefault(edge.of, Link("if_earlier", edge.scope))
    return reach


def _always(name: str, edges: Mapping[str, Explains]) -> tuple[Edge, ...]:
    return edges[name].always if name in edges else ()


def _wider(known: Link | None, scope: Scope) -> Scope:
    """Join the scopes of two ways that lead to one thing."""
    if known is None or known.scope == scope:
        return scope
    return "same_host" if {known.scope, scope} == {"same_rank", "same_host"} else "job"


def circle(
    edges: Mapping[str, Explains], causes: Iterable[str], cause_of: Mapping[str, str]
) -> list[str] | None:
    """Find findings that would all explain each other by `always` edges, if there are any.

    A cause stands for what shows it without a signal, as a scheduler's state does. Leave echoes
    out of `cause_of`: they explain nothing but echoes, and of those the first is as good as any.
    """
    shows = {cause: [cause] for cause in causes}
    for signal, cause in cause_of.items():
        shows.setdefault(cause, [cause]).append(signal)

    def explained_by(name: str) -> Iterator[str]:
        cause = cause_of.get(name, name)
        for source in dict.fromkeys((name, cause)):
            for target in (edge.of for edge in _always(source, edges)):
                if target in cause_of and target != name:
                    yield target
                elif target != cause:
                    yield from shows.get(target, ())

    done: set[str] = set()
    rings = (_ring(start, explained_by, done) for own in shows.values() for start in own)
    return next((ring for ring in rings if ring), None)


def _ring(start: str, onward: Callable[[str], Iterator[str]], done: set[str]) -> list[str] | None:
    """Walk on until the trail meets itself; `done` holds what was seen to lead to no ring."""
    trail = {start: onward(start)}
    while trail:
        name = next(reversed(trail))
        target = next(trail[name], None)
        if target is None:
            done.add(name)
            del trail[name]
        elif target in trail:
            names = list(trail)
            return [*names[names.index(target) :], target]
        elif target not in done:
            trail[target] = onward(target)
    return None
