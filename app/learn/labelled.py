"""Logs whose cause is known: the fixtures, and the diagnoses that people confirmed or corrected.

A fixture is a file. Of a diagnosis the log is read again where it is still there; else what was
kept of it is judged. What was kept lacks the lines that only a new pattern would have met, so it
can show that a rule does harm and never that it finds something.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from app.errors import SourceError
from app.model import Compressed, Job, Line
from app.pipeline import Case, Limits, examine, judged
from app.rulebook.compiled import Compiled
from app.store.diagnoses import Diagnoses, Present, Upload
from app.store.feedback import Feedbacks
from app.store.kept import KeptLog, KeptLogs
from app.store.uploads import Uploads
from app.story import read_stories
from app.work.kept import unpack
from app.work.roots import LogRoots

_MOST_CONFIRMED = 500  # the newest; some minutes of work
_MOST_BYTES = 64 << 20  # of a log that is read again; larger ones are judged by what was kept


def _nothing() -> KeptLog | None:
    return None


@dataclass(frozen=True)
class Labelled:
    """A log with its cause; `diagnosis_id` is None for a fixture.

    What was `kept` of it is loaded when it is judged: many are held, and each may be of megabytes.
    """

    name: str
    cause: str
    job: Job = Job()
    paths: tuple[Path, ...] = ()
    kept: Callable[[], KeptLog | None] = field(default=_nothing, compare=False, repr=False)
    diagnosis_id: str | None = None

    def case(self, compiled: Compiled) -> Case | None:
        """Judge it by rules alone; None where nothing is left of it."""
        if self.paths:
            try:
                return examine(self.paths, compiled, job=self.job, limits=Limits())
            except SourceError:
                pass
        kept = self.kept()
        log = _revived(kept, compiled) if kept else None
        return judged(log, compiled, job=self.job) if log else None


def fixtures(folder: Path) -> tuple[Labelled, ...]:
    """Give all stories whose verdict is known to be right; raise UsageError."""
    return tuple(
        Labelled(f"fixture {story.name}", story.right.primary, paths=tuple(story.files()))
        for story in read_stories(folder)
        if "verdict" not in story.right.open
    )


class Confirmed:
    """The diagnoses that people spoke of, by their last words."""

    def __init__(
        self,
        feedbacks: Feedbacks,
        diagnoses: Diagnoses,
        kept: KeptLogs,
        uploads: Uploads,
        roots: LogRoots,
    ) -> None:
        self._feedbacks = feedbacks
        self._diagnoses = diagnoses
        self._kept = kept
        self._uploads = uploads
        self._roots = roots

    def all(self) -> Iterator[Labelled]:
        """Give the newest of them, of which anything is left."""
        causes = {one.diagnosis_id: one.cause for one in self._feedbacks.labels(_MOST_CONFIRMED)}
        ids = sorted(causes)
        kept = self._kept.known(ids)
        for present in self._diagnoses.present(ids):
            id = present.request.id
            paths = self._paths(present)
            if paths or id in kept:
                yield Labelled(
                    name=f"diagnosis {id}",
                    cause=causes[id],
                    job=present.request.job,
                    paths=paths,
                    kept=partial(self._found, id),
                    diagnosis_id=id,
                )

    def _found(self, id: str) -> KeptLog | None:
        return self._kept.find([id]).get(id)

    def _paths(self, present: Present) -> tuple[Path, ...]:
        """Find its log; nothing where a part is gone or it is large."""
        found: list[Path] = []
        for origin in present.request.origins:
            try:
                if isinstance(origin, Upload):
                    found.append(self._uploads.path(origin.sha256))
                else:
                    found.append(self._roots.check(Path(origin.path)))
            except SourceError:
                return ()
        return tuple(found) if _bytes_of(found) <= _MOST_BYTES else ()


def _bytes_of(paths: Sequence[Path]) -> int:
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else (path,))]
    try:
        return sum(file.stat().st_size for file in files if file.is_file())
    except OSError:
        return _MOST_BYTES + 1


def _revived(kept: KeptLog, compiled: Compiled) -> Compressed | None:
    """See a kept log with the patterns of today, new ones tried on the lines that are left."""
    added = [p.source for p in compiled.probes if p.source not in set(kept.patterns)]
    log = unpack(kept.data, [*kept.patterns, *added], compiled)
    if log is None or not added:
        return log
    ids = [id for id, probe in enumerate(compiled.probes) if probe.source in set(added)]
    return replace(log, lines=tuple(_met_anew(line, ids, compiled) for line in log.lines))


def _met_anew(line: Line, ids: Sequence[int], compiled: Compiled) -> Line:
    met = {id for id in ids if compiled.holds(compiled.probes[id].source, line.text)}
    return replace(line, met=tuple(sorted({*line.met, *met}))) if met else line
