"""Judge again, in a process of its own, on this machine or another.

The process is told ids and where to find things; it reads the database itself, since compressed
logs are too large to travel twice. Past incidents are not asked: the one that is nearest would be
the diagnosis itself. A log whose judging fails is set aside; only rules, prompts or a database that
cannot be used end all.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import TypeVar

import structlog

from app.errors import StoreError, UsageError
from app.model import Diagnosis
from app.pipeline import Case
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Present
from app.store.incidents import Incidents
from app.store.run import Change, Instead
from app.work.doubts import Doubts
from app.work.judged import Measure, Now, Rejudged, Tell, set_aside
from app.work.kept import pack
from app.work.outcomes import outcome_of
from app.work.reread import Shelf, Sight
from app.work.surroundings import Part, Surroundings

_FROM = {"kept": "what was kept of its log", "log": "its log, read again"}

_T = TypeVar("_T")

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Before:
    """The present answer, and the cause that a person gave it, if one did."""

    present: Present
    confirmed: str | None


class Desk:
    """What a process holds between two parts."""

    def __init__(self, where: Surroundings) -> None:
        """Open it; raise UsageError where rules or prompts are not those of the run."""
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
        self._asking_seconds = where.log_seconds
        if where.asking is not None:
            self._asking_seconds += where.asking.endpoint.seconds

    def close(self) -> None:
        """Let go of the database and the model."""
        self._engine.dispose()
        if self._doubts is not None:
            self._doubts.close()

    def judge(self, part: Part, tell: Tell) -> Iterator[Rejudged]:
        """Say what each log came to, one at least, until that is enough; no verdict is written.

        Rules judge one log after the other, a model is asked about several at once: as many are
        held. Raises StoreError.
        """
        measure = Measure(part)
        left = takewhile(lambda at: not (at and measure.is_enough), range(len(part.subjects)))
        begun = (self._begun(part, at, tell) for at in left)
        if self._doubts is None:
            yield from (measure.add(rest()) for rest in begun)
            return
        waiting: deque[Future[Rejudged]] = deque()
        with ThreadPoolExecutor(self._at_once) as threads:
            for rest in begun:
                waiting.append(threads.submit(rest))
                if len(waiting) > self._at_once:
                    yield measure.add(waiting.popleft().result())
            while waiting:
                yield waiting.popleft().result()

    def _begun(self, part: Part, at: int, tell: Tell) -> Callable[[], Rejudged]:
        """See a log as rules do; give what is left to do, which may wait for a model."""
        subject = part.subjects[at]
        tell(Now(subject))
        seen = _tried(subject, partial(self._seen, part, at, tell))
        if isinstance(seen, Rejudged):
            return lambda: seen
        if self._doubts is not None:
            tell(Now(subject))  # it may wait for its turn
        return partial(_tried, subject, partial(self._ended, part, *seen, tell))

    def _seen(self, part: Part, at: int, tell: Tell) -> tuple[Sight, Before | None] | Rejudged:
        subject = part.subjects[at]
        if part.places is not None:
            return self._shelf.of_log(subject, part.places[at], part.within_roots, tell), None
        found = self._diagnoses.present([subject])
        if not found:  # it was deleted meanwhile
            return Rejudged(subject)
        before = Before(found[0], self._incidents.confirmed([subject]).get(subject))
        return self._shelf.of_diagnosis(found[0], tell), before

    def _ended(self, part: Part, sight: Sight, before: Before | None, tell: Tell) -> Rejudged:
        with sight.files:
            subject = sight.subject
            if sight.case is None:
                is_told = before is None or sight.is_other
                return set_aside(subject, sight.fault) if is_told else Rejudged(subject)
            found = sight.case.diagnosis
            if self._doubts is not None:
                tell(Now(subject, self._asking_seconds))
                found = self._doubts.settled(sight)
            asked = found.asked
            told = Rejudged(
                subject, sight.source, asked is not None, asked.note if asked else None,
                weight=sight.weight,
            )  # fmt: skip
            if before is not None and not _is_other(found, before):
                return told
            found = replace(found, digest=sight.case.digest(self._digest_tokens))
            change, instead = _changed(sight, sight.case, found, before)
            return replace(told, change=change, instead=instead if part.applies else None)


def _tried(subject: str, work: Callable[[], _T]) -> _T | Rejudged:
    """Do what a log may make fail in ways that nobody foresaw; raise StoreError."""
    try:
        return work()
    except StoreError:  # the database is not this log's doing
        raise
    except Exception as error:  # noqa: BLE001  the edge of judging one log, which must be set aside
        log.warning("set aside", subject=subject, exc_info=True)
        return set_aside(subject, f"{type(error).__name__}: {error}")


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


def _changed(
    sight: Sight, case: Case, found: Diagnosis, before: Before | None
) -> tuple[Change, Instead | None]:
    outcome = replace(outcome_of(found, sight.subject), last_step=case.detected.steps or None)
    if before is not None and sight.fetch is None:  # it was read whole
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
    return change, Instead(before.present.revision, outcome) if before else None
