"""Filters that a language model wrote for one type of job, and what a log tells of its type."""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

FilterState = Literal["active", "off", "retired"]


@dataclass(frozen=True, slots=True)
class Routine:
    """What a filter does: it takes lines away that its regex meets."""

    name: str
    match: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A filter that has passed all gates.

    `hits` are lines that it takes away, `misses` lines that it must not. `votes` of `answers`
    answers met the same lines; `share` is the part of the log's lines that it takes away.
    """

    name: str
    title: str
    why: str
    match: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]
    votes: int
    answers: int
    share: float

    @property
    def routine(self) -> Routine:
        """What it does."""
        return Routine(self.name, self.match)


@dataclass(frozen=True, slots=True)
class Kind:
    """Lines that are alike and that no filter explains; `samples` are some, as printed."""

    text: str
    count: int
    samples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Volume:
    """How much of a log is left when routine lines are gone.

    `tokens` is what all lines that are left would take, `lines` how many the log has, `kept` how
    many are left. `kinds` are the largest of them; there are none where a digest holds them all.
    `spared` are lines that a rule looks for, one of each kind, beside them.
    """

    tokens: int = 0
    lines: int = 0
    kept: int = 0
    kinds: tuple[Kind, ...] = ()
    removed: Mapping[str, int] = field(default_factory=dict)
    spared: tuple[str, ...] = ()

    @property
    def ratio(self) -> float:
        """The part of the lines that is left."""
        return self.kept / max(1, self.lines)


Outline = frozenset[int]
"""Hashes of the line templates that a log repeats: what logs of one type of job have in common."""


@dataclass(frozen=True, slots=True)
class JobType:
    """A type of job, its usual lines, and the filters that were written for it."""

    name: str
    outline: Outline
    routines: tuple[Routine, ...] = ()


_SAME, _ALIKE = 0.5, 0.25  # likeness


def likeness(one: Outline, other: Outline) -> float:
    """Give the part of all templates that both have, from 0 to 1."""
    return len(one & other) / max(1, len(one | other))


def same_type(outline: Outline, types: Iterable[JobType]) -> JobType | None:
    """Find the type of job that a log without one belongs to."""
    return _likest(outline, types, _SAME)


def nearest_type(outline: Outline, types: Iterable[JobType]) -> JobType | None:
    """Find the type whose filters a new type may begin with."""
    return _likest(outline, types, _ALIKE)


def _likest(outline: Outline, types: Iterable[JobType], least: float) -> JobType | None:
    near = [(likeness(outline, known.outline), known.name, known) for known in types]
    score, _, found = max(near, default=(0.0, "", None), key=lambda item: item[:2])
    return found if score >= least else None


def new_name(outline: Outline) -> str:
    """Name a type of job after its outline."""
    return f"auto-{zlib.crc32(','.join(map(str, sorted(outline))).encode()):08x}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What one diagnosis tells of the type of its job.

    `given` is the scheduler's word, `applied` the type whose filters the log was read with.
    """

    given: str | None
    outline: Outline
    volume: Volume
    applied: str | None = None


def fitting(given: str | None, outline: Outline, types: Sequence[JobType]) -> JobType | None:
    """Choose the type whose filters a log is read with: its own, else one that is like it."""
    named = next((known for known in types if known.name == given), None)
    if named is not None:
        return named
    same = same_type(outline, types) if given is None else None
    return same or nearest_type(outline, types)
