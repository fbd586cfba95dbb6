"""Which cause or signal explains which.

Edges are written on causes, on their domains and on single signals. Chains of `always` edges are
followed through causes that are absent; the first scope met on the way binds the whole of it. An
`if_earlier` edge makes no chain: order says something about two things that are both there, and
through absent ones nearly everything would explain nearly everything. Cycles through `always`
edges are refused at load, so that among any findings at least one has no explanation.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from app.rulebook.cause import Edge, Explains, Scope

EdgeKind = Literal["always", "if_earlier"]


@dataclass(frozen=True, slots=True)
class Link:
    """How one thing explains another."""

    kind: EdgeKind
    scope: Scope = "job"


@dataclass(frozen=True)
class Relation:
    """Everything that each cause or signal explains, chains followed."""

    reach: Mapping[str, Mapping[str, Link]]

    def link(self, culprit: tuple[str, str], consequence: tuple[str, str]) -> Link | None:
        """Tell how a finding may explain another; both are given as (cause, signal).

        Of several ways the one in any order of lines wins. A cause explains itself only where a
        rule names the signal.
        """
        found: Link | None = None
        same = culprit[0] == consequence[0]
        for name in culprit:
            targets = self.reach.get(name, {})
            for target in consequence[1:] if same else consequence:
                link = targets.get(target)
                if link and (found is None or (found.kind, link.kind) == ("if_earlier", "always")):
                    found = link
        return found


def build(edges: Mapping[str, Explains], cause_of: Mapping[str, str]) -> Relation:
    """Follow all chains; `cause_of` maps each signal to its cause."""
    direct = {name: tuple(_links(explains)) for name, explains in edges.items()}
    return Relation({name: _reach(name, direct, cause_of) for name in direct if direct[name]})


def _links(explains: Explains) -> Iterable[tuple[str, Link]]:
    kinds: tuple[tuple[EdgeKind, tuple[str | Edge, ...]], ...] = (
        ("always", explains.always),
        ("if_earlier", explains.if_earlier),
    )
    for kind, targets in kinds:
        for target in targets:
            if isinstance(target, Edge):
                yield target.of, Link(kind, target.scope)
            else:
                yield target, Link(kind)


def _reach(
    start: str, direct: Mapping[str, tuple[tuple[str, Link], ...]], cause_of: Mapping[str, str]
) -> dict[str, Link]:
    """Walk outwards along `always` edges; then add what comes next by `if_earlier`."""
    reach: dict[str, Link] = {}
    waiting = [(start, Link("always"))]
    walked: set[str] = set()
    while waiting:
        name, way = waiting.pop()
        if name in walked:
            continue
        walked.add(name)
        onward = (name, cause_of[name]) if name in cause_of and name != start else (name,)
        for source in onward:
            for target, link in direct.get(source, ()):
                if link.kind == "always":
                    step = Link("always", link.scope if way.scope == "job" else way.scope)
                    reach.setdefault(target, step)
                    waiting.append((target, step))
    for target, link in direct.get(start, ()):
        reach.setdefault(target, link)
    reach.pop(start, None)
    return reach


def cycle(edges: Mapping[str, Explains], members: Mapping[str, Iterable[str]]) -> list[str] | None:
    """Find a circle of `always` edges, if there is one; `members` maps causes to their signals."""
    following = {
        name: [target for target, link in _links(explains) if link.kind == "always"]
        for name, explains in edges.items()
    }
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> list[str] | None:
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if name in done:
            return None
        for target in [*following.get(name, ()), *(members.get(name, ()) if trail else ())]:
            found = visit(target, [*trail, name])
            if found:
                return found
        done.add(name)
        return None

    for name in following:
        found = visit(name, [])
        if found:
            return found
    return None
