"""Keep uploaded logs on disk under the hash of their content.

A log is written to a file of its own under `incoming/`, synced, and only then moved to its place
`<first two digits>/<sha256>/log`. So a file in its place is always whole, the same content is
stored once, and what a crash leaves behind lies in `incoming/` alone. The bytes are kept as they
were sent; a compressed log stays compressed. Calls block and may come from any thread, and from any
process that shares the folder.
"""

import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.errors import SourceNotFound, StoreError

_ABANDONED_SECONDS = 24 * 3600


class Uploads:
    """The folder of uploaded logs."""

    def __init__(self, folder: Path, min_free_bytes: int = 0) -> None:
        self._folder = folder
        self._incoming = folder / "incoming"
        self._min_free_bytes = min_free_bytes
        self._moving = threading.Lock()  # a sweep must not remove what an upload just found
        with _disk_faults():
            self._incoming.mkdir(parents=True, exist_ok=True, mode=0o700)

    def begin(self) -> "Incoming":
        """Start to receive a log; use it in a `with` block, which clears up what is not kept."""
        with _disk_faults():
            return Incoming(self, self._incoming)

    def put(self, data: bytes | bytearray) -> str:
        """Keep a log that is at hand whole; give its hash."""
        with self.begin() as incoming:
            incoming.write(data)
            return incoming.keep()

    def path(self, sha256: str) -> Path:
        """Tell where a log lies; raise SourceNotFound where it was removed."""
        path = self._place(sha256)
        if not path.is_file():
            raise SourceNotFound(f"the uploaded log {sha256[:16]}… is no longer kept")
        return path

    def check_space(self) -> None:
        """Raise StoreError where the disk is too full to take logs."""
        with _disk_faults():
            free = shutil.disk_usage(self._folder).free
        if free < self._min_free_bytes:
            raise StoreError(
                f"the disk of the data folder is nearly full: {free >> 20} MiB are free, "
                f"FIRSTFAULT_MIN_FREE_BYTES asks for {self._min_free_bytes >> 20} MiB"
            )

    def sweep(self, older_than: float, in_use: Collection[str]) -> int:
        """Remove logs not sent since that time, unless they are in use; give their number."""
        removed = 0
        for path in self._folder.glob("??/*/log"):
            if path.parent.name not in in_use:
                with self._moving, suppress(FileNotFoundError):  # another process was faster
                    removed += self._is_removed(path, older_than)
        self._clear_abandoned()
        return removed

    def adopt(self, part: Path, sha256: str) -> None:
        """Move a whole and synced file to its place, or drop it where the same is there."""
        place = self._place(sha256)
        with self._moving:
            with suppress(FileNotFoundError):
                os.utime(place)
                part.unlink()
                return
            _move(part, place)
            for folder in (place.parent, place.parent.parent, self._folder):
                _sync_folder(folder)

    def _is_removed(self, path: Path, older_than: float) -> bool:
        """Remove a log that is old; one that another process is sent just now is put back."""
        if path.stat().st_mtime >= older_than:
            return False
        aside = self._incoming / f"old-{path.parent.name}"
        path.rename(aside)
        if aside.stat().st_mtime >= older_than:
            _move(aside, path)
            return False
        aside.unlink()
        with suppress(OSError):  # it is being filled again
            path.parent.rmdir()
        return True

    def _place(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256 / "log"

    def _clear_abandoned(self) -> None:
        for path in self._incoming.iterdir():
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
                    path.unlink()


class Incoming:
    """A log that is being received."""

    def __init__(self, uploads: Uploads, folder: Path) -> None:
        self._uploads = uploads
        descriptor, name = tempfile.mkstemp(dir=folder)
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        self._path = Path(name)
        self._hash = hashlib.sha256()

    def __enter__(self) -> "Incoming":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)

    def write(self, data: bytes | bytearray) -> None:
        """Add a piece; raise StoreError where the disk is full."""
        self._uploads.check_space()
        self._hash.update(data)
        rest = memoryview(data)
        with _disk_faults():
            while rest:
                rest = rest[self._file.write(rest) :]

    def keep(self) -> str:
        """Put the log in its place; give its hash. It is on the disk when this returns."""
        sha256 = self._hash.hexdigest()
        with _disk_faults():
            os.fsync(self._file.fileno())
            self._uploads.adopt(self._path, sha256)
        return sha256


@contextmanager
def _disk_faults() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(f"the log cannot be written to the data folder: {reason}") from error


def _move(part: Path, place: Path) -> None:
    """Put a file in its place, whose folder another process may be removing."""
    for is_last in (False, False, True):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            os.replace(part, place)
        except FileNotFoundError:
            if is_last:
                raise
        else:
            return


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
