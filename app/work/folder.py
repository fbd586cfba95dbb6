"""Judge the logs of a folder, each entry of it one job, in the processes of an executor."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from app.errors import SourceError, SourceNotFound
from app.pipeline import Limits, diagnose
from app.work.rejudge import Surroundings, rulebook_of


@dataclass(frozen=True, slots=True)
class Judged:
    """What one log came to; `cause` is None where it could not be read."""

    log: str
    cause: str | None
    domain: str
    action: str | None
    summary: str


def jobs_in(folders: Sequence[Path]) -> list[Path]:
    """List the files and folders that lie directly below; raise SourceNotFound."""
    found: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise SourceNotFound(f"{folder}: no such folder")
        found += sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    return found


def judge_all(paths: Sequence[Path], where: Surroundings, pool: Executor) -> Iterator[Judged]:
    """Judge each, in order."""
    for future in [pool.submit(_judge, path, where) for path in paths]:
        yield future.result()


def _judge(path: Path, where: Surroundings) -> Judged:
    limits = Limits(max_bytes=where.max_log_bytes, digest_tokens=where.digest_tokens)
    try:
        found = diagnose([path], rulebook_of(where), limits=limits)
    except SourceError as error:
        return Judged(str(path), None, "none", None, str(error))
    primary = found.verdict.primary
    return Judged(str(path), primary.cause, primary.domain, found.plan.action, primary.summary)
