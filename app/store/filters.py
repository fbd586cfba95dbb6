"""Keep the filters that were written for each type of job, and how they fare.

All calls block and may be made from any thread. A regex is kept with the examples that prove it,
so that a person can review it in the form of a rule file.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, insert, select, update

from app.errors import NotFound
from app.store.database import transaction
from app.store.filter_tables import FilterRow as Row
from app.store.filter_tables import JobTypeRow as Type
from app.store.ids import new_id
from app.store.tables import DiagnosisRow as Diagnosis
from app.store.tables import IncidentRow as Incident
from app.written import FilterState, JobType, Proposal, Routine

MOST_TYPES = 200  # the last ones, among which a log without a type is recognised
_IDLE_JOBS = 50  # of its type, after which a filter that took nothing is retired
_DAY = 86_400
_IDLE_DAYS = 90

_ALL = select(
    Row.id, Row.job_type, Row.name, Row.title, Row.why, Row.match, Row.hits, Row.misses, Row.author,
    Row.votes, Row.answers, Row.share, Row.state, Row.taken, Row.idle_jobs, Row.last_hit_at,
    Row.based_on, Row.created_at,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeptFilter:
    """One filter; `author` names the model and the version of the prompt."""

    id: str
    job_type: str
    name: str
    title: str
    why: str
    match: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]
    author: str
    votes: int
    answers: int
    share: float
    state: FilterState
    taken: int
    idle_jobs: int
    last_hit_at: float | None
    based_on: str | None
    created_at: float


class Filters:
    """The table of written filters."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def known(self, job_type: str | None = None) -> tuple[JobType, ...]:
        """Give a type with its active filters; where it is not known, those that were last seen."""
        with transaction(self._engine) as connection:
            return known_types(connection, job_type)

    def page(self, job_type: str | None = None, state: str | None = None) -> list[KeptFilter]:
        """List filters by their type and name."""
        query = _ALL.order_by(Row.job_type, Row.name)
        query = query.where(Row.job_type == job_type) if job_type is not None else query
        query = query.where(Row.state == state) if state is not None else query
        with transaction(self._engine) as connection:
            return [_kept(row._asdict()) for row in connection.execute(query).all()]

    def find(self, id: str) -> KeptFilter:
        """Read one; raise NotFound."""
        with transaction(self._engine) as connection:
            row = connection.execute(_ALL.where(Row.id == id[:32])).one_or_none()
        if row is None:
            raise NotFound(f"there is no filter {id[:64]!r}")
        return _kept(row._asdict())

    def switch(self, id: str, *, on: bool) -> KeptFilter:
        """Let a filter take lines away, or not; raise NotFound."""
        values = {"state": "active" if on else "off", "idle_jobs": 0, "changed_at": time.time()}
        with transaction(self._engine, writes=True) as connection:
            connection.execute(update(Row).where(Row.id == id[:32]).values(values))
        return self.find(id)

    def confirmed_lines(self, most: int = 2_000) -> list[tuple[str, str]]:
        """Give the lines that verdicts rest on which people confirmed, with the incident's id."""
        query = (
            select(Incident.id, Diagnosis.answer)
            .join(Diagnosis, Diagnosis.id == Incident.diagnosis_id)
            .where(Incident.confirmed_at.is_not(None), Diagnosis.answer.is_not(None))
            .order_by(Incident.confirmed_at.desc())
            .limit(most)
        )
        with transaction(self._engine) as connection:
            rows = connection.execute(query).all()
        return [
            (line["text"], f"confirmed incident {id}")
            for id, answer in rows
            for line in json.loads(answer or "{}").get("evidence", ())
        ]

    def retire_idle(self) -> int:
        """Retire what has taken no line for long; give how many."""
        now = time.time()
        idle = (Row.state == "active", Row.last_hit_at < now - _IDLE_DAYS * _DAY)
        with transaction(self._engine, writes=True) as connection:
            values = {"state": "retired", "changed_at": now}
            return connection.execute(update(Row).where(*idle).values(values)).rowcount


def known_types(connection: Connection, job_type: str | None = None) -> tuple[JobType, ...]:
    """Read types of jobs with their active filters."""
    query = select(Type.name, Type.outline)
    rows = connection.execute(query.where(Type.name == job_type)).all() if job_type else []
    if not rows:
        rows = connection.execute(query.order_by(Type.seen_at.desc()).limit(MOST_TYPES)).all()
    names = [row[0] for row in rows]
    routines: dict[str, list[Routine]] = {}
    active = select(Row.job_type, Row.name, Row.match).where(
        Row.job_type.in_(names), Row.state == "active"
    )
    for of, name, match in connection.execute(active.order_by(Row.name)):
        routines.setdefault(of, []).append(Routine(name, match))
    return tuple(
        JobType(name, frozenset(json.loads(outline)), tuple(routines.get(name, ())))
        for name, outline in rows
    )


def add_filters(
    connection: Connection, job_type: str, proposals: Sequence[Proposal], author: str
) -> None:
    """Keep new filters of a type; a name that is taken gets a number."""
    now = time.time()
    taken = set(connection.execute(select(Row.name).where(Row.job_type == job_type)).scalars())
    for one in proposals:
        name = _free(one.name, taken)
        taken.add(name)
        row = {
            "id": new_id("fr"), "job_type": job_type, "name": name, "title": one.title,
            "why": one.why, "match": one.match, "hits": json.dumps(one.hits),
            "misses": json.dumps(one.misses), "author": author, "votes": one.votes,
            "answers": one.answers, "share": one.share, "state": "active", "taken": 0,
            "idle_jobs": 0, "last_hit_at": now, "created_at": now, "changed_at": now,
        }  # fmt: skip
        connection.execute(insert(Row), row)


def copy_filters(connection: Connection, of: str, to: str) -> None:
    """Let a new type begin with the filters of a similar one."""
    now = time.time()
    rows = connection.execute(_ALL.where(Row.job_type == of, Row.state == "active")).all()
    for row in rows:
        fresh = {
            "id": new_id("fr"), "job_type": to, "taken": 0, "idle_jobs": 0, "last_hit_at": now,
            "based_on": row.id, "created_at": now, "changed_at": now,
        }  # fmt: skip
        connection.execute(insert(Row), {**row._mapping, **fresh})


def count_hits(connection: Connection, job_type: str, removed: Mapping[str, int]) -> None:
    """Note what each active filter of a type took from one log; retire the idle ones."""
    now = time.time()
    mine = (Row.job_type == job_type, Row.state == "active")
    connection.execute(update(Row).where(*mine).values(idle_jobs=Row.idle_jobs + 1))
    for name, count in removed.items():
        values = {"taken": Row.taken + count, "idle_jobs": 0, "last_hit_at": now}
        if count:
            connection.execute(update(Row).where(*mine, Row.name == name).values(values))
    idle = {"state": "retired", "changed_at": now}
    connection.execute(update(Row).where(*mine, Row.idle_jobs >= _IDLE_JOBS).values(idle))


def _free(name: str, taken: set[str]) -> str:
    return next(each for each in _numbered(name[:56]) if each not in taken)


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def _kept(row: Mapping[str, object]) -> KeptFilter:
    lines = {part: tuple(json.loads(str(row[part]))) for part in ("hits", "misses")}
    return KeptFilter(**{**row, **lines})  # type: ignore[arg-type]  # columns are its fields
