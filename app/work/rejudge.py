"""Judge stored diagnoses again, in a process of an executor, on this machine or another.

The process is told ids and where to find things; it reads the database itself, since compressed
logs are too large to travel twice. What was kept of a log is enough for most changes of rules; else
the log is read once more, if it is still there. A verdict that a model had a part in stays unless
the rules alone are now sure.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from app.errors import SourceError
from app.pipeline import Limits, examine, judged
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Present, Upload
from app.store.kept import KeptLog, KeptLogs
from app.store.outcome import Outcome
from app.store.reclassifications import Change, Chunk
from app.store.uploads import Uploads
from app.work.kept import pack, unpack
from app.work.objects import ObjectStore, copies
from app.work.roots import LogRoots
from app.work.worker import outcome_of

_NICENESS = 10  # whoever waits for an answer goes first


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a process finds rules, database and logs; `edition` changes with the rules."""

    database: str
    rules: Path
    learned: Path
    edition: str
    cache: Path
    uploads: Path
    roots: tuple[Path | str, ...]
    max_log_bytes: int
    digest_tokens: int
    store: ObjectStore | None = None


def set_up() -> None:
    """Prepare a process of a pool of ours."""
    os.nice(_NICENESS)


def rejudge(ids: Sequence[str], where: Surroundings) -> Chunk:
    """Judge each of them again and say what came out otherwise; nothing is written."""
    desk = _desk(where)
    kept = desk.kept.find(ids)
    changes: list[Change] = []
    outcomes: list[Outcome] = []
    counts = {"kept": 0, "log": 0, "unread": 0}
    for present in desk.diagnoses.present(ids):
        source, outcome = desk.judge(present, kept)
        counts[source] += 1
        if outcome is not None and (change := _change(present, outcome, source)):
            changes.append(change)
            outcomes.append(outcome)
    return Chunk(
        last_id=ids[-1],
        rules=desk.compiled.rulebook.fingerprint,
        from_kept=counts["kept"],
        from_logs=counts["log"],
        unread=counts["unread"],
        changes=tuple(changes),
        outcomes=tuple(outcomes),
    )


@cache
def rulebook_of(where: Surroundings) -> Compiled:
    """Give the rules, loaded once in each process."""
    return Compiled(load(where.rules, where.cache, where.learned), where.cache)


@cache
def _desk(where: Surroundings) -> "_Desk":
    return _Desk(where)


class _Desk:
    """What a process holds between two chunks."""

    def __init__(self, where: Surroundings) -> None:
        engine = connect(where.database)
        self.diagnoses = Diagnoses(engine)
        self.kept = KeptLogs(engine)
        self.compiled = rulebook_of(where)
        rulebook = self.compiled.rulebook
        self.kept.know(rulebook.fingerprint, [probe.source for probe in self.compiled.probes])
        self._uploads = Uploads(where.uploads)
        self._roots = LogRoots(where.roots)
        self._store = where.store
        self._limits = Limits(max_bytes=where.max_log_bytes, digest_tokens=where.digest_tokens)

    def judge(self, present: Present, kept: Mapping[str, KeptLog]) -> tuple[str, Outcome | None]:
        """Judge one from what was kept, else from its log; say from which."""
        found = kept.get(present.request.id)
        log = unpack(found.data, found.patterns, self.compiled) if found else None
        if log is not None:
            case = judged(log, self.compiled, job=present.request.job, limits=self._limits)
            outcome = outcome_of(case.diagnosis, present.request.id)
            return "kept", replace(outcome, last_step=case.detected.steps or None)
        try:
            return "log", self._read(present)
        except SourceError:
            return "unread", None

    def _read(self, present: Present) -> Outcome:
        origins = present.request.origins
        paths = [
            self._uploads.path(origin.sha256)
            if isinstance(origin, Upload)
            else self._roots.check_again(origin.path)
            for origin in origins
        ]
        job = present.request.job
        with copies([str(path) for path in paths], self._store) as here:
            found = [Path(path) for path in here]
            case = examine(found, self.compiled, job=job, limits=self._limits)
        outcome = outcome_of(case.diagnosis, present.request.id)
        steps = case.detected.steps or None
        return replace(outcome, kept=pack(case.sighted.log), last_step=steps)


def _change(present: Present, outcome: Outcome, source: str) -> Change | None:
    """Say what is other than before; None where nothing that matters is."""
    before = (present.cause, present.action, present.restart)
    if before == (outcome.cause, outcome.action, outcome.restart):
        return None
    if present.method not in (None, "rules") and outcome.confidence != "high":
        return None
    of = "what was kept of its log" if source == "kept" else "its log, read again"
    return Change(
        diagnosis_id=present.request.id,
        cause_before=present.cause,
        cause=outcome.cause,
        action_before=present.action,
        action=outcome.action,
        why=f"rules {outcome.rules[7:15]} on {of}: {outcome.summary}",
    )
