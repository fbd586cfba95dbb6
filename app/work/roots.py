"""Turn a log URI into a place that may be read: a file, a folder or an object below a log root.

Every symbolic link is resolved first, so that a link out of the root is refused. The check is made
when a request comes in and again when its log is about to be read.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from app.errors import OutsideRoots, SourceError, SourceNotFound, UsageError
from app.work.object_names import SCHEME, ObjectName, named, of_uri
from app.work.objects import ObjectStore

Location = Path | ObjectName


def location(place: str) -> Location:
    """Read what was kept of a place."""
    return named(place) if place.startswith(SCHEME) else Path(place)


class LogRoots:
    """The folders, here or in an object store, that the operator has opened to requests."""

    def __init__(self, roots: Sequence[Path | str], store: ObjectStore | None = None) -> None:
        self._roots = tuple(root.resolve() for root in roots if isinstance(root, Path))
        self._object_roots = tuple(named(root) for root in roots if isinstance(root, str))
        self.store = store

    def place(self, uri: str) -> Location:
        """Resolve a `file:///…` or `s3://…` URI; raise UsageError or SourceError."""
        found = self.promised(uri)
        if isinstance(found, Path):
            return self.check(found)
        if self.store is not None:
            self.store.objects(found)  # raises where none is there
        return found

    def promised(self, uri: str) -> Location:
        """Resolve the URI of a log that may not be there yet; raise as `place` does."""
        if uri.startswith(SCHEME):
            return self._allowed(of_uri(uri))
        return self._real(_path(uri))

    def check_again(self, place: str) -> Location:
        """Resolve a place that was allowed before; raise where it is so no more."""
        found = location(place)
        return self.check(found) if isinstance(found, Path) else self._allowed(found)

    def check(self, path: Path) -> Path:
        """Resolve a path; raise where it leaves the roots, is missing or can be no log."""
        real = self._real(path)
        try:
            mode = real.stat().st_mode
        except FileNotFoundError as error:
            raise SourceNotFound(f"{path}: no such file or folder") from error
        except OSError as error:
            raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from error
        if stat.S_ISDIR(mode):
            self._check_folder(real)
        elif not stat.S_ISREG(mode):
            raise SourceError(f"{path}: neither a file nor a folder")
        return real

    def _real(self, path: Path) -> Path:
        if not self._roots:
            raise OutsideRoots(
                "log URIs are not accepted: FIRSTFAULT_LOG_ROOTS names no folder; "
                "send the log as the body, or let the operator set FIRSTFAULT_LOG_ROOTS"
            )
        real = Path(os.path.realpath(path))
        if not self._inside(real):
            raise OutsideRoots(f"{path}: lies outside the folders of FIRSTFAULT_LOG_ROOTS")
        return real

    def _allowed(self, name: ObjectName) -> ObjectName:
        if not any(name.is_within(root) for root in self._object_roots):
            raise OutsideRoots(
                f"{name}: lies below none of the s3:// places of FIRSTFAULT_LOG_ROOTS"
            )
        return name

    def _check_folder(self, folder: Path) -> None:
        for link in _links(folder):
            if not self._inside(Path(os.path.realpath(link))):
                raise OutsideRoots(f"{link}: links out of the folders of FIRSTFAULT_LOG_ROOTS")

    def _inside(self, real: Path) -> bool:
        return any(real.is_relative_to(root) for root in self._roots)


def _path(uri: str) -> Path:
    parts = urlsplit(uri)
    path = unquote(parts.path)
    is_file = parts.scheme == "file" and parts.netloc in ("", "localhost")
    if not is_file or not path.startswith("/") or "\0" in path or parts.query or parts.fragment:
        raise UsageError(f"{uri!r}: a log URI has the form file:///folder/file")
    return Path(path)


def _links(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            if path.is_symlink():
                yield path
