"""See a log as the rules of today see it: from what was kept of it, or read once more.

What was kept is enough for most changes of rules; else the log is read, if it is still there. Only
one log is held at a time, and each is given a time: reading it has as much as a diagnosis has, but
no more than its bytes can explain once they are at hand.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sqlalchemy import Engine

from app.errors import SourceError, StoreError
from app.model import Job
from app.pipeline import Case, Limits, examine, judged
from app.read import source as files
from app.rulebook.compiled import Compiled
from app.store.diagnoses import Diagnoses, Present, Request, Upload
from app.store.kept import KeptLog, KeptLogs
from app.store.uploads import Uploads
from app.work.folder import shown
from app.work.judged import Now, Source, Tell
from app.work.kept import unpack
from app.work.objects import copies
from app.work.roots import LogRoots
from app.work.surroundings import Surroundings
from app.work.worker import expected_text_bytes

_LEAST_SECONDS = 60.0  # for any log, and for all that was kept of one; usual are hundredths
_BYTES_A_SECOND = 1_000_000  # of text; usual are 50 times as many


@dataclass(slots=True)
class Sight:
    """One log as rules see it, or why there is no `case`: it cannot be read, or `is_other`.

    `source` says what it was judged from; a model that looks into files which only `fetch` knows
    makes it `log`. `files` holds what must stay on the disk until all is said.
    """

    subject: str
    case: Case | None = None
    source: Source = "unread"
    fault: str = ""
    is_other: bool = False
    fetch: Callable[[], Sequence[files.Source]] | None = None
    files: ExitStack = field(default_factory=ExitStack)
    weight: int = 0


class Shelf:
    """All logs that a process can get at."""

    def __init__(self, engine: Engine, compiled: Compiled, where: Surroundings) -> None:
        self._compiled = compiled
        self._diagnoses = Diagnoses(engine)
        self._kept = KeptLogs(engine)
        self._kept.know(compiled.rulebook.fingerprint, [probe.source for probe in compiled.probes])
        self._uploads = Uploads(where.uploads)
        self._roots = LogRoots(where.roots)
        self._store = where.store
        # A digest is written where a verdict has changed, which few do.
        self._limits = Limits(max_bytes=where.max_log_bytes, digest_tokens=0)
        self._most_seconds = where.log_seconds

    def of_diagnosis(self, present: Present, tell: Tell) -> Sight:
        """See the log of a stored diagnosis."""
        request = present.request
        kept = self._kept.find([request.id]).get(request.id)
        tell(Now(request.id, min(_LEAST_SECONDS, self._most_seconds)))
        sight = self._from_kept(request, kept) if kept else None
        if sight is None:
            places = partial(self._places, request)
            sight = self._unless_other(request, self._read(request.id, request.job, places, tell))
        return sight

    def of_log(self, subject: str, place: str, within_roots: bool, tell: Tell) -> Sight:
        """See a log that was never stored."""
        return self._read(subject, Job(), partial(self._place, place, within_roots), tell)

    def _from_kept(self, request: Request, kept: KeptLog) -> Sight | None:
        log = unpack(kept.data, kept.patterns, self._compiled)
        if log is None:
            return None
        case = judged(log, self._compiled, job=request.job, limits=self._limits)
        sight = Sight(request.id, case, "kept", weight=len(kept.data))
        sight.fetch = lambda: self._fetched(sight, request)
        return sight

    def _unless_other(self, request: Request, sight: Sight) -> Sight:
        """Refuse what lies in the place of a log by now, such as the next attempt's."""
        if sight.case is None or all(isinstance(origin, Upload) for origin in request.origins):
            return sight
        answer = self._diagnoses.find(request.id).answer
        then = json.loads(answer)["log"]["bytes"] if answer else sight.weight
        if then == sight.weight:
            return sight
        sight.files.close()
        told = f"its log has changed since it was diagnosed, from {then} bytes to {sight.weight}"
        return Sight(request.id, fault=told, is_other=True)

    def _fetched(self, sight: Sight, request: Request) -> Sequence[files.Source]:
        """Find the files of a kept log; raise SourceError where they are not those of then."""
        assert sight.case is not None
        paths = sight.files.enter_context(copies(self._places(request), self._store))
        found = {source.name: source for source in files.sources([Path(path) for path in paths])}
        names = [file.name for file in sight.case.sighted.log.files]
        if not found.keys() >= set(names):
            raise SourceError("the files of the log are not those that were diagnosed")
        sight.source = "log"
        return [found[name] for name in names]

    def _read(
        self, subject: str, job: Job, places: Callable[[], Sequence[str]], tell: Tell
    ) -> Sight:
        tell(Now(subject, self._most_seconds))  # to be looked for, and copied
        with ExitStack() as opened:
            try:
                paths = opened.enter_context(copies(places(), self._store))
                found = [Path(path) for path in paths]
                tell(Now(subject, self._seconds(found)))
                case = examine(found, self._compiled, job=job, limits=self._limits)
            except (SourceError, StoreError) as error:  # of the store: no room for a copy
                return Sight(subject, fault=shown(str(error)))
            weight = sum(file.bytes for file in case.sighted.log.files)
            return Sight(subject, case, "log", files=opened.pop_all(), weight=weight)

    def _seconds(self, paths: Sequence[Path]) -> float:
        needed = _LEAST_SECONDS + expected_text_bytes(paths) / _BYTES_A_SECOND
        return min(needed, self._most_seconds)

    def _place(self, place: str, within_roots: bool) -> list[str]:
        return [str(self._roots.check_again(place)) if within_roots else place]

    def _places(self, request: Request) -> list[str]:
        return [
            str(
                self._uploads.path(origin.sha256)
                if isinstance(origin, Upload)
                else self._roots.check_again(origin.path)
            )
            for origin in request.origins
        ]
