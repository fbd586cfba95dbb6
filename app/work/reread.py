"""See a log as the rules of today see it: from what was kept of it, or read once more.

What was kept is enough for most changes of rules; else the log is read, if it is still there.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from sqlalchemy import Engine

from app.errors import SourceError, StoreError
from app.model import Job
from app.pipeline import Case, Limits, examine, judged
from app.read.source import Source, sources
from app.rulebook.compiled import Compiled
from app.store.diagnoses import Present, Request, Upload
from app.store.kept import KeptLog, KeptLogs
from app.store.uploads import Uploads
from app.work.folder import shown
from app.work.kept import unpack
from app.work.objects import copies
from app.work.roots import LogRoots
from app.work.surroundings import Part, Surroundings


@dataclass(slots=True)
class Sight:
    """One log as rules see it, or why there is no `case`.

    `source` says what it was judged from; a model that looks into files which only `fetch` knows
    makes it `log`. `files` holds what must stay on the disk until all is said.
    """

    subject: str
    case: Case | None = None
    source: Literal["kept", "log", "unread"] = "unread"
    fault: str = ""
    fetch: Callable[[], Sequence[Source]] | None = None
    files: ExitStack = field(default_factory=ExitStack)


class Shelf:
    """All logs that a process can get at."""

    def __init__(self, engine: Engine, compiled: Compiled, where: Surroundings) -> None:
        self._compiled = compiled
        self._kept = KeptLogs(engine)
        self._kept.know(compiled.rulebook.fingerprint, [probe.source for probe in compiled.probes])
        self._uploads = Uploads(where.uploads)
        self._roots = LogRoots(where.roots)
        self._store = where.store
        # A digest is written where a verdict has changed, which few do.
        self._limits = Limits(max_bytes=where.max_log_bytes, digest_tokens=0)

    def of_diagnoses(self, diagnoses: Sequence[Present]) -> Iterator[Sight]:
        """See the logs of stored diagnoses, one after the other."""
        kept = self._kept.find([present.request.id for present in diagnoses])
        for present in diagnoses:
            request = present.request
            yield self._from_kept(request, kept.get(request.id)) or self._read(
                request.id, request.job, partial(self._places, request)
            )

    def of_logs(self, part: Part) -> Iterator[Sight]:
        """See logs that were never stored, one after the other."""
        for subject, place in zip(part.subjects, part.places or (), strict=True):
            yield self._read(subject, Job(), partial(self._place, place, part.within_roots))

    def _from_kept(self, request: Request, kept: KeptLog | None) -> Sight | None:
        log = unpack(kept.data, kept.patterns, self._compiled) if kept else None
        if log is None:
            return None
        case = judged(log, self._compiled, job=request.job, limits=self._limits)
        sight = Sight(request.id, case, "kept")
        sight.fetch = lambda: self._fetched(sight, request)
        return sight

    def _fetched(self, sight: Sight, request: Request) -> Sequence[Source]:
        """Find the files of a kept log; raise SourceError where they are not those of then."""
        assert sight.case is not None
        paths = sight.files.enter_context(copies(self._places(request), self._store))
        found = {source.name: source for source in sources([Path(path) for path in paths])}
        names = [file.name for file in sight.case.sighted.log.files]
        if not found.keys() >= set(names):
            raise SourceError("the files of the log are not those that were diagnosed")
        sight.source = "log"
        return [found[name] for name in names]

    def _read(self, subject: str, job: Job, places: Callable[[], Sequence[str]]) -> Sight:
        with ExitStack() as opened:
            try:
                paths = opened.enter_context(copies(places(), self._store))
                found = [Path(path) for path in paths]
                case = examine(found, self._compiled, job=job, limits=self._limits)
            except (SourceError, StoreError) as error:  # of the store: no room for a copy
                return Sight(subject, fault=shown(str(error)))
            return Sight(subject, case, "log", files=opened.pop_all())

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
