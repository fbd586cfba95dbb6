"""Keep what is known of types of jobs: their usual lines, how well their logs compress.

A type that is over its budget is worth a model's time once; when that did not help, again after
twice as many jobs each time, and at once where its logs stop to compress as they used to.
"""

import json
import statistics
import time
from dataclasses import dataclass

from pydantic import TypeAdapter
from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.store.database import transaction
from app.store.filter_tables import JobTypeRow as Row
from app.store.filters import add_filters, copy_filters, count_hits, known_types
from app.written import Proposal, Seen, Volume, nearest_type, new_name, same_type

_RATIOS = 20  # that are remembered of a type
_FEWEST_RATIOS = 3  # before a collapse can be told
_COLLAPSE = 4.0  # times the usual ratio
_LEAST_RATIO = 0.005  # below it all is well
_PAUSE = 10  # jobs between two writings, doubled each time
_MOST_DOUBLINGS = 6
_AFTER_COLLAPSE = 3  # jobs
_VOLUME = TypeAdapter(Volume)


@dataclass(frozen=True, slots=True)
class Noted:
    """What one log says of its type: whether it collapsed, whether filters should be written.

    `writings` is how often they were, the same until the next writing is done.
    """

    job_type: str
    collapsed: str | None
    wants_filters: bool
    writings: int


@dataclass(frozen=True, slots=True)
class Material:
    """What filters are written from."""

    volume: Volume
    diagnosis_id: str | None
    writings: int


class JobTypes:
    """The table of job types."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def note(self, seen: Seen, budget_tokens: int, diagnosis_id: str | None = None) -> Noted | None:
        """Take up one log; None where its type is not told and nothing in it repeats."""
        try:
            return self._note(seen, budget_tokens, diagnosis_id)
        except IntegrityError:  # another process was faster with a new type
            return self._note(seen, budget_tokens, diagnosis_id)

    def material(self, name: str) -> Material | None:
        """Give what a model is shown of a type."""
        query = select(Row.material, Row.diagnosis_id, Row.writings).where(Row.name == name)
        with transaction(self._engine) as connection:
            row = connection.execute(query).one_or_none()
        if row is None or row[0] is None:
            return None
        return Material(_VOLUME.validate_json(row[0]), row[1], row[2])

    def keep(self, name: str, writings: int, proposals: tuple[Proposal, ...], author: str) -> bool:
        """Keep what was written as the next writing; says no where that was done before."""
        with transaction(self._engine, writes=True) as connection:
            query = select(Row.writings, Row.jobs).where(Row.name == name)
            row = connection.execute(query).one_or_none()
            if row is None or row[0] != writings:
                return False
            add_filters(connection, name, proposals, author)
            values = {
                "writings": writings + 1,
                "next_writing": row[1] + _pause(writings),
                "material": None,
            }
            connection.execute(update(Row).where(Row.name == name).values(values))
        return True

    def _note(self, seen: Seen, budget_tokens: int, diagnosis_id: str | None) -> Noted | None:
        with transaction(self._engine, writes=True) as connection:
            name = _name(connection, seen)
            if name is None:
                return None
            row = _found(connection, name)
            if row is None:
                _create(connection, name, seen)
                row = _found(connection, name)
            assert row is not None
            if seen.applied == name:
                count_hits(connection, name, seen.volume.removed)
            return _taken_up(connection, row, seen.volume, budget_tokens, diagnosis_id)


@dataclass(frozen=True, slots=True)
class _Known:
    name: str
    jobs: int
    ratios: tuple[float, ...]
    writings: int
    next_writing: int


def _name(connection: Connection, seen: Seen) -> str | None:
    if seen.given:
        return seen.given[:256]
    same = same_type(seen.outline, known_types(connection))
    if same is not None:
        return same.name
    return new_name(seen.outline) if seen.outline else None


def _found(connection: Connection, name: str) -> _Known | None:
    columns = select(Row.name, Row.jobs, Row.ratios, Row.writings, Row.next_writing)
    row = connection.execute(columns.where(Row.name == name)).one_or_none()
    return row and _Known(row[0], row[1], tuple(json.loads(row[2])), row[3], row[4])


def _create(connection: Connection, name: str, seen: Seen) -> None:
    near = nearest_type(seen.outline, known_types(connection))
    now = time.time()
    row = {
        "name": name, "outline": json.dumps(sorted(seen.outline)), "jobs": 0, "ratios": "[]",
        "tokens": 0, "writings": 0, "next_writing": 0, "created_at": now, "seen_at": now,
    }  # fmt: skip
    connection.execute(insert(Row), row)
    if near is not None:
        copy_filters(connection, near.name, name)


def _taken_up(
    connection: Connection, known: _Known, volume: Volume, budget_tokens: int, id: str | None
) -> Noted:
    is_over = volume.tokens > budget_tokens
    collapsed = _collapse(known, volume) if is_over else None
    due = _due(known, after_collapse=collapsed is not None)
    wants = is_over and bool(volume.kinds) and known.jobs + 1 >= due
    values: dict[str, object] = {
        "jobs": known.jobs + 1,
        "ratios": json.dumps([*known.ratios, round(volume.ratio, 6)][-_RATIOS:]),
        "tokens": volume.tokens,
        "seen_at": time.time(),
    }
    if wants:
        values |= {"material": _VOLUME.dump_json(volume).decode(), "diagnosis_id": id}
    connection.execute(update(Row).where(Row.name == known.name).values(values))
    return Noted(known.name, collapsed, wants, known.writings)


def _due(known: _Known, *, after_collapse: bool) -> int:
    """Give the number of the job from which on filters may be written."""
    if after_collapse and known.writings:
        return known.next_writing - _pause(known.writings - 1) + _AFTER_COLLAPSE
    return known.next_writing


def _pause(writings: int) -> int:
    return _PAUSE << min(writings, _MOST_DOUBLINGS)


def _collapse(known: _Known, volume: Volume) -> str | None:
    """Say how much worse a log compresses than those before it, if it is much."""
    if len(known.ratios) < _FEWEST_RATIOS:
        return None
    usual = statistics.median(known.ratios)
    if volume.ratio <= max(_COLLAPSE * usual, _LEAST_RATIO):
        return None
    return f"{volume.ratio:.2%} of the lines are left, {usual:.2%} as a rule"
