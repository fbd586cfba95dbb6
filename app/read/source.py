"""Where a job's log comes from: files, folders, streams; in the order a person would list them.

A folder is one job with one file per rank or node. What cannot be a log (weights, archives,
programs, configuration) is left out there, by its name or by its first bytes, but what a platform
dumped of the job is a log too, and a file that the caller names is always opened.
"""

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from app.errors import SourceError, SourceNotFound
from app.read.kind import HEAD_BYTES, no_log, packing
from app.read.status_dump import SUFFIXES, is_status_dump

_NEVER_A_LOG = {
    ".bin", ".ckpt", ".csv.gz", ".db", ".distcp", ".idx", ".md", ".npy", ".npz",
    ".onnx", ".parquet", ".pdf", ".pkl", ".png", ".pt", ".pth", ".py", ".pyc", ".safetensors",
    ".so", ".tar", ".tar.gz", ".tar.zst", ".tgz", ".toml", ".whl", ".zip",
}  # fmt: skip
_MAX_FILES = 100_000


@dataclass(frozen=True, slots=True)
class Source:
    """One log file, or a stream that is read once."""

    name: str
    path: Path | None = None
    stream: BinaryIO | None = None

    def open(self) -> BinaryIO:
        """Open for reading; raise SourceError with the reason where that fails."""
        if self.stream is not None:
            return self.stream
        assert self.path is not None
        try:
            return open(self.path, "rb", buffering=0)
        except OSError as error:
            raise _cannot_read(self.path, error) from error


def sources(inputs: Sequence[Path | BinaryIO]) -> tuple[Source, ...]:
    """List the files of one job; raise SourceNotFound or SourceError where there are none.

    A file that is given twice, by a link or within a folder too, is read once.
    """
    found: list[Source] = []
    for item in inputs:
        if isinstance(item, Path):
            found += _of_path(item)
        else:
            name = getattr(item, "name", "")  # a number where a descriptor was opened
            found.append(Source(isinstance(name, str) and name or "stdin", stream=item))
    if not found:
        raise SourceError("no log was given")
    return _with_short_names(_once(found))


def _once(found: Sequence[Source]) -> list[Source]:
    """Leave out files that are there already; of a file and a link to it the file stays."""
    kept: dict[object, Source] = {}
    for source in found:
        key = source if source.path is None else os.path.realpath(source.path)
        if (known := kept.get(key)) and known.path and known.path.is_symlink():
            del kept[key]
        kept.setdefault(key, source)
    return list(kept.values())


def _of_path(path: Path) -> list[Source]:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, ValueError) as error:  # ValueError: a NUL within the path
        raise SourceNotFound(f"{path}: no such file or folder") from error
    except OSError as error:
        raise _cannot_read(path, error) from error
    if stat.S_ISDIR(mode):
        return _of_folder(path)
    if stat.S_ISREG(mode) or stat.S_ISFIFO(mode):
        return [Source(str(path), path)]
    raise SourceError(f"{path}: neither a file, a folder nor a pipe")


def _of_folder(folder: Path) -> list[Source]:
    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(parent, name)
            if _may_be_log(path):
                found.append(path)
        if len(found) > _MAX_FILES:
            raise SourceError(f"{folder}: more than {_MAX_FILES} files; name the job's own folder")
    if not found:
        raise SourceError(f"{folder}: the folder holds no log file")
    return [Source(str(path), path) for path in sorted(found, key=_natural)]


def _may_be_log(path: Path) -> bool:
    name = path.name.lower()
    if name.startswith(".") or any(name.endswith(suffix) for suffix in _NEVER_A_LOG):
        return False
    if name.endswith(SUFFIXES) and not is_status_dump(path):
        return False
    try:
        about = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(about.st_mode) and about.st_size > 0 and not _is_program(path)


def _is_program(path: Path) -> bool:
    """Look into the file; one that cannot be read stays, so that its fault is told.

    What is packed is looked into when it is read.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            head = file.read(HEAD_BYTES)
            return packing(head) is None and no_log(head) is not None
    except OSError:
        return False


def _natural(path: Path) -> tuple[tuple[int, int | str], ...]:
    """Sort rank2.log before rank10.log."""
    parts = re.split(r"(\d+)", str(path))
    return tuple((1, int(part)) if part.isdecimal() else (0, part) for part in parts)


def _with_short_names(found: Sequence[Source]) -> tuple[Source, ...]:
    """Name files by what tells them apart: the path below their common folder."""
    full = {source.path: os.path.abspath(source.path) for source in found if source.path}
    if not full:
        return tuple(found)
    base = os.path.commonpath([os.path.dirname(path) for path in full.values()])
    return tuple(
        replace(source, name=_shown(os.path.relpath(full[source.path], base)))
        if source.path
        else source
        for source in found
    )


def _shown(path: str) -> str:
    """Write a path so that it can be printed: file names may hold any bytes."""
    return os.fsencode(path).decode("utf-8", "replace")


def _refuse(error: OSError) -> None:
    raise _cannot_read(Path(error.filename), error)


def _cannot_read(path: Path, error: OSError) -> SourceError:
    return SourceError(f"{_shown(str(path))}: cannot be read: {error.strerror or error}")
