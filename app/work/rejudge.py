"""Judge again, in a process of an executor, on this machine or another.

The process is told ids and where to find things; it reads the database itself, since compressed
logs are too large to travel twice. Past incidents are not asked: the one that is nearest would be
the diagnosis itself.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from app.errors import UsageError
from app.model import Diagnosis
from app.opinion import Asked
from app.pipeline import Case
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Present
from app.store.incidents import Incidents
from app.store.run import Change, Chunk, Instead
from app.work.doubts import Doubts
from app.work.kept import pack
from app.work.reread import Shelf, Sight
from app.work.surroundings import Part, Surroundings
from app.work.worker import outcome_of

_FROM = {"kept": "what was kept of its log", "log": "its log, read again"}


@dataclass(frozen=True, slots=True)
class Before:
    """The present answer, and the cause that a person gave it, if one did."""

    present: Present
    confirmed: str | None


@dataclass(frozen=True, slots=True)
class Rejudged:
    """What one log came to, without the log; `asked` where rules left a doubt."""

    source: str
    asked: Asked | None = None
    change: Change | None = None
    instead: Instead | None = None


def rejudge(part: Part, where: Surroundings) -> Chunk:
    """Judge each of a part again and say what came out otherwise; no verdict is written."""
    return _desk(where).judge(part)


_desks: dict[Surroundings, "_Desk"] = {}  # one at most: loading rules takes half a second


def _desk(where: Surroundings) -> "_Desk":
    if where not in _desks:
        let_go()
        _desks[where] = _Desk(where)
    return _desks[where]


def let_go() -> None:
    """Close what this process holds between two parts; one that ends needs not."""
    while _desks:
        _desks.popitem()[1].close()


class _Desk:
    """What a process holds between two parts."""

    def __init__(self, where: Surroundings) -> None:
        engine = self._engine = connect(where.database)
        compiled = Compiled(load(where.rules, where.cache, where.learned), where.cache)
        if compiled.rulebook.fingerprint != where.edition:
            raise UsageError(f"the rules in {where.rules} have changed since the run began")
        self._diagnoses = Diagnoses(engine)
        self._incidents = Incidents(engine)
        self._shelf = Shelf(engine, compiled, where)
        self._doubts = Doubts(where.asking, where.digest_tokens) if where.asking else None
        self._digest_tokens = where.digest_tokens
        self._at_once = where.asking.endpoint.parallel if where.asking else 1

    def close(self) -> None:
        """Let go of the database and the model."""
        self._engine.dispose()
        if self._doubts is not None:
            self._doubts.close()

    def judge(self, part: Part) -> Chunk:
        """Judge a part; the rules one log after the other, the model several at once."""
        seen = self._logs(part) if part.places is not None else self._stored(part.subjects)
        if self._doubts is None:
            return _chunk(part, [self._result(*pair) for pair in seen])
        with ThreadPoolExecutor(self._at_once) as threads:
            waiting = [threads.submit(self._result, *pair) for pair in seen]
            return _chunk(part, [each.result() for each in waiting])

    def _stored(self, ids: Sequence[str]) -> Iterator[tuple[Sight, Before | None]]:
        found = self._diagnoses.present(ids)
        confirmed = self._incidents.confirmed(ids)
        for present, sight in zip(found, self._shelf.of_diagnoses(found), strict=True):
            yield sight, Before(present, confirmed.get(sight.subject))

    def _logs(self, part: Part) -> Iterator[tuple[Sight, Before | None]]:
        for sight in self._shelf.of_logs(part):
            yield sight, None

    def _result(self, sight: Sight, before: Before | None) -> Rejudged:
        with sight.files:
            if sight.case is None:
                told = None if before else Change(sight.subject, why=sight.fault)
                return Rejudged(sight.source, change=told)
            found = self._doubts.settled(sight) if self._doubts else sight.case.diagnosis
            if before is not None and not _is_other(found, before):
                return Rejudged(sight.source, found.asked)
            found = replace(found, digest=sight.case.digest(self._digest_tokens))
            return _changed(sight, sight.case, found, before)


def _is_other(found: Diagnosis, before: Before) -> bool:
    """Say whether it differs in what a reader acts on, and should count.

    What a person confirmed stays. So does what memory or a model had a part in, unless rules alone
    are now sure, or another model was heard in the place of that one.
    """
    present, now = before.present, _advice(found)
    if (present.cause, present.action, present.restart) == now:
        return False
    if before.confirmed == present.cause != now[0]:
        return False
    is_sure = found.verdict.primary.confidence == "high"
    was_heard = found.asked is not None and found.asked.note is None
    if present.method == "memory":
        return is_sure
    return is_sure or was_heard or present.method in (None, "rules")


def _advice(found: Diagnosis) -> tuple[str | None, str | None, bool | None]:
    return found.verdict.primary.cause, found.plan.action, found.plan.restart


def _changed(sight: Sight, case: Case, found: Diagnosis, before: Before | None) -> Rejudged:
    outcome = replace(outcome_of(found, sight.subject), last_step=case.detected.steps or None)
    if sight.fetch is None:  # it was read whole
        outcome = replace(outcome, kept=pack(case.sighted.log))
    by_model = _advice(found) != _advice(case.diagnosis)
    by = f"rules {outcome.rules[7:15]}"
    if by_model and found.asked is not None:
        by += f" and {found.asked.model} (prompts {found.asked.prompts[7:15]})"
    change = Change(
        subject=sight.subject,
        cause_before=before.present.cause if before else None,
        cause=outcome.cause,
        domain=outcome.domain,
        action_before=before.present.action if before else None,
        action=outcome.action,
        by_model=by_model,
        why=f"{by} on {_FROM[sight.source]}: {outcome.summary}",
    )
    instead = Instead(before.present.revision, outcome) if before else None
    return Rejudged(sight.source, found.asked, change, instead)


def _chunk(part: Part, found: Sequence[Rejudged]) -> Chunk:
    sources = Counter(one.source for one in found)
    asked = [one.asked for one in found if one.asked]
    notes = [each.note for each in asked if each.note]
    return Chunk(
        last=part.subjects[-1],
        from_kept=sources["kept"],
        from_logs=sources["log"],
        unread=sources["unread"],
        asked=len(asked),
        unheard=len(notes),
        note=notes[-1] if notes else None,
        changes=tuple(one.change for one in found if one.change),
        instead=tuple(one.instead for one in found if one.instead) if part.applies else (),
    )
