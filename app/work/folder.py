"""List the logs of folders, here or in an object store: each entry of a folder is one job."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from app.errors import SourceError, SourceNotFound, UsageError
from app.work.object_names import ObjectName
from app.work.objects import ObjectStore
from app.work.roots import location


def jobs_in(folders: Sequence[str], store: ObjectStore) -> dict[str, str]:
    """Give the places of all jobs by the names that they are kept under, in the order of these.

    Raises SourceError or UsageError.
    """
    places = [place for folder in folders for place in _below(folder, store)]
    return dict(sorted((shown(place), place) for place in places))


def shown(text: str) -> str:
    """Spell out what a database or UTF-8 cannot hold, such as bytes of a name that are no text."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def _below(folder: str, store: ObjectStore) -> Iterator[str]:
    place = location(folder)
    yield from _objects(place, store) if isinstance(place, ObjectName) else _files(place)


def _files(folder: Path) -> Iterator[str]:
    if not folder.is_dir():
        raise SourceNotFound(f"{folder}: no such folder")
    try:
        yield from (str(path) for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise SourceError(f"{folder}: cannot be read: {error.strerror or error}") from error


def _objects(name: ObjectName, store: ObjectStore) -> Iterator[str]:
    if not name.is_folder:
        raise UsageError(f"{name}: a folder in an object store ends in a slash")
    yield from map(str, store.jobs(name))
