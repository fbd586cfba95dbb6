"""Judge the logs of a folder, each entry of it one job, in the processes of an executor."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from app.errors import SourceError, SourceNotFound, UsageError
from app.pipeline import Limits, diagnose
from app.work.objects import SCHEME, ObjectStore, copies, of_uri
from app.work.rejudge import Surroundings, rulebook_of


@dataclass(frozen=True, slots=True)
class Judged:
    """What one log came to; `cause` is None where it could not be read."""

    log: str
    cause: str | None
    domain: str
    action: str | None
    summary: str


def jobs_in(folders: Sequence[str], store: ObjectStore) -> list[str]:
    """List the files and folders that lie directly below; raise SourceNotFound or UsageError."""
    found: list[str] = []
    for folder in folders:
        found += _objects_in(folder, store) if folder.startswith(SCHEME) else _files_in(folder)
    return found


def _files_in(folder: str) -> list[str]:
    if not Path(folder).is_dir():
        raise SourceNotFound(f"{folder}: no such folder")
    return sorted(str(path) for path in Path(folder).iterdir() if not path.name.startswith("."))


def _objects_in(folder: str, store: ObjectStore) -> list[str]:
    name = of_uri(folder)
    if not name.is_folder:
        raise UsageError(f"{folder}: a folder in an object store ends in a slash")
    return [str(job) for job in store.jobs(name)]


def judge_all(paths: Sequence[str], where: Surroundings, pool: Executor) -> Iterator[Judged]:
    """Judge each, in order."""
    for future in [pool.submit(_judge, path, where) for path in paths]:
        yield future.result()


def _judge(path: str, where: Surroundings) -> Judged:
    limits = Limits(max_bytes=where.max_log_bytes, digest_tokens=where.digest_tokens)
    try:
        with copies([path], where.store) as paths:
            found = diagnose([Path(here) for here in paths], rulebook_of(where), limits=limits)
    except SourceError as error:
        return Judged(path, None, "none", None, str(error))
    primary = found.verdict.primary
    return Judged(path, primary.cause, primary.domain, found.plan.action, primary.summary)
