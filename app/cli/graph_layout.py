"""Lay the causes out for a drawing of who explains whom.

Domains are columns, small ones above each other. Columns, and the rows within them, are ordered so
that edges are short; an edge that passes a column goes through a gap between its boxes. What a
domain gives to all its causes is one edge of its heading, and an edge that follows from a chain of
others is left out: else there would be hundreds, and nobody could follow one.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from app.rulebook.cause import EdgeKind, Explains, Scope
from app.rulebook.rulebook import Rulebook

WIDTH, HEIGHT = 172, 28  # of a box, in pixels
ROW, COLUMN, MARGIN = 46, 360, 30
_SMALL = 4  # causes of a domain that shares its column
_MOST_PERMUTED = 6  # columns; 720 orders are tried
_SWEEPS = 8


@dataclass(frozen=True, slots=True)
class Edge:
    """One statement of the rules; `source` is a cause, or a domain for all its causes."""

    source: str
    target: str
    kind: EdgeKind
    scope: Scope


@dataclass(frozen=True, slots=True)
class Box:
    """A cause, or the heading of a domain, at its place; `x` and `y` are its upper left corner."""

    name: str
    is_domain: bool
    column: int
    row: int

    @property
    def x(self) -> int:
        """The left edge."""
        return MARGIN + self.column * COLUMN

    @property
    def y(self) -> int:
        """The upper edge."""
        return MARGIN + self.row * ROW


def edges_of(book: Rulebook) -> list[Edge]:
    """Give the edges between causes as the rules state them, chains left out."""
    stated = [
        *(edge for name, form in book.domains.items() for edge in _edges(name, form.explains)),
        *(edge for name, cause in book.causes.items() for edge in _edges(name, cause.explains)),
    ]
    known = [edge for edge in stated if edge.target in book.causes]
    onward: dict[str, set[str]] = defaultdict(set)
    for edge in known:
        if edge.kind == "always":
            onward[edge.source].add(edge.target)
    return [edge for edge in known if not _follows(edge, onward)]


def _edges(source: str, explains: Explains) -> Iterator[Edge]:
    for kind, _, edge in explains.edges():
        yield Edge(source, edge.of, kind, edge.scope)


def _follows(edge: Edge, onward: Mapping[str, set[str]]) -> bool:
    """Say whether other edges of this source lead to the same target in any case."""
    if edge.kind != "always":
        return False
    waiting = list(onward[edge.source] - {edge.target})
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name == edge.target:
            return True
        if name not in seen:
            seen.add(name)
            waiting += onward.get(name, set())
    return False


def boxes_of(book: Rulebook, edges: Sequence[Edge]) -> dict[str, Box]:
    """Place all domains and causes."""
    domain_of = {cause.name: cause.domain for cause in book.causes.values()}
    domain_of |= {domain: domain for domain in domain_of.values()}
    columns = _ordered(_columns(domain_of), domain_of, edges)
    rows = _rows(columns, domain_of, edges)
    return {
        name: Box(name, name == domain_of[name], column, row)
        for column, names in enumerate(rows)
        for row, name in enumerate(names)
        if name
    }


def _columns(domain_of: Mapping[str, str]) -> list[list[str]]:
    """Give each large domain a column, and the small ones another."""
    sizes: dict[str, int] = defaultdict(int)
    for domain in domain_of.values():
        sizes[domain] += 1
    small = sorted(name for name, size in sizes.items() if size - 1 <= _SMALL)
    large = [[name] for name in sorted(sizes) if name not in small]
    return [*large, small] if small else large


def _ordered(
    columns: list[list[str]], domain_of: Mapping[str, str], edges: Sequence[Edge]
) -> list[list[str]]:
    """Put columns beside each other between which many edges run."""
    if len(columns) > _MOST_PERMUTED:
        return columns
    pairs = [(domain_of[edge.source], domain_of[edge.target]) for edge in edges]

    def length(order: Iterable[list[str]]) -> int:
        at = {domain: column for column, own in enumerate(order) for domain in own}
        return sum(abs(at[source] - at[target]) for source, target in pairs)

    return list(min(permutations(columns), key=length))


def _rows(
    columns: list[list[str]], domain_of: Mapping[str, str], edges: Sequence[Edge]
) -> list[list[str]]:
    """Order the causes of each domain by the rows of what they are tied to, in a few sweeps."""
    own: dict[str, list[str]] = defaultdict(list)
    for name in sorted(domain_of):
        if name != domain_of[name]:
            own[domain_of[name]].append(name)
    tied: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        tied[edge.source].append(edge.target)
        tied[edge.target].append(edge.source)
    rows = [_stacked(domains, own) for domains in columns]
    for _ in range(_SWEEPS):
        at = {name: row for names in rows for row, name in enumerate(names)}
        for names in own.values():
            names.sort(key=lambda name: _mean([at[other] for other in tied[name]], at[name]))
        rows = [_stacked(domains, own) for domains in columns]
    return rows


def _stacked(domains: Sequence[str], own: Mapping[str, Sequence[str]]) -> list[str]:
    names: list[str] = []
    for domain in domains:
        names += [*([""] if names else []), domain, *own[domain]]
    return names


def _mean(rows: Sequence[int], otherwise: int) -> float:
    return sum(rows) / len(rows) if rows else otherwise
