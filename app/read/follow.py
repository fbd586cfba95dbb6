"""A log that is still written, as blocks of whole lines, in bounded memory.

A file that is followed may be renamed away and begun anew, or emptied in place, as log rotation
does; reading goes on with what is there then, and the lines go on counting. What is not yet a whole
line waits; one that grows past `_LONGEST` is given in pieces.

Memory bound: `_LONGEST` and one read, besides the block that is looked at.
"""

import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from app.errors import SourceError, SourceNotFound
from app.read.blocks import Block
from app.read.kind import HEAD_BYTES, no_log, packing

_POLL_SECONDS = 0.25
_READ = 4 << 20  # bytes
_LONGEST = 8 << 20
_OVERLAP = 4096  # bytes of a long line that are given again with its next piece


class Following:
    """One file; it is given up when nothing came for `quiet_seconds`, or when told to stop."""

    def __init__(
        self, path: Path, quiet_seconds: float, poll_seconds: float = _POLL_SECONDS
    ) -> None:
        self.quiet_seconds = quiet_seconds
        self.rotations = 0
        self._path = path
        self._poll = poll_seconds
        self._stopped = threading.Event()
        self._rest = bytearray()
        self._continues = False
        self._repeated = 0

    def stop(self) -> None:
        """End after what is there now; for signal handlers and other threads."""
        self._stopped.set()

    def blocks(self) -> Iterator[Block]:
        """Give what comes until the end; raise SourceError for what cannot be read."""
        file = self._opened()
        last = time.monotonic()
        try:
            while True:
                data = file.read(_READ)
                if data:
                    last = time.monotonic()
                    self._rest += data
                    yield from self._whole()
                    continue
                successor = self._successor(file)
                if successor is not None:
                    self.rotations += 1
                    yield from self._last()
                    file.close()
                    file = successor
                    continue
                if self._stopped.is_set() or time.monotonic() - last >= self.quiet_seconds:
                    break
                self._stopped.wait(self._poll)
            yield from self._last()
        except OSError as error:
            reason = error.strerror or error
            raise SourceError(f"{self._path}: cannot be read: {reason}") from error
        finally:
            file.close()

    def _opened(self) -> BinaryIO:
        """Open the file; one that is not there yet may come."""
        began = time.monotonic()
        while True:
            try:
                return self._checked(open(self._path, "rb", buffering=0))
            except FileNotFoundError as error:
                waited = time.monotonic() - began
                if self._stopped.is_set() or waited >= self.quiet_seconds:
                    raise SourceNotFound(f"{self._path}: no such file") from error
                self._stopped.wait(self._poll)
            except OSError as error:
                reason = error.strerror or error
                raise SourceError(f"{self._path}: cannot be read: {reason}") from error

    def _checked(self, file: BinaryIO) -> BinaryIO:
        """Refuse what is no text file that can grow."""
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise SourceError(f"{self._path}: not a file; only a file can be followed")
        head = os.pread(file.fileno(), HEAD_BYTES, 0)
        fault = "it is packed" if packing(head) else no_log(head)
        if fault:
            file.close()
            raise SourceError(f"{self._path}: cannot be followed: {fault}")
        return file

    def _successor(self, file: BinaryIO) -> BinaryIO | None:
        """Say where reading goes on when the file was rotated or emptied."""
        try:
            now = os.stat(self._path)
        except FileNotFoundError:
            return None  # renamed away, and its successor is not there yet
        then = os.fstat(file.fileno())
        if (now.st_ino, now.st_dev) != (then.st_ino, then.st_dev):
            if file.tell() < then.st_size:
                return None  # something was written to it yet
        elif now.st_size >= file.tell():
            return None
        try:
            return self._checked(open(self._path, "rb", buffering=0))
        except FileNotFoundError:
            return None

    def _whole(self) -> Iterator[Block]:
        """Give the whole lines; of one that is too long what is there of it."""
        cut = self._rest.rfind(b"\n") + 1
        if cut > self._repeated:
            yield self._taken(cut)
            self._continues, self._repeated = False, 0
        if len(self._rest) >= _LONGEST:
            tail = bytes(self._rest[-_OVERLAP:])
            yield self._taken(len(self._rest))
            self._rest += tail
            self._continues, self._repeated = True, len(tail)

    def _last(self) -> Iterator[Block]:
        """Give the line that nobody ended."""
        if len(self._rest) > self._repeated:
            yield self._taken(len(self._rest))
        self._rest.clear()
        self._continues, self._repeated = False, 0

    def _taken(self, size: int) -> Block:
        data = bytes(self._rest[:size])
        del self._rest[:size]
        return Block(0, memoryview(data), self._continues, self._repeated, _nothing)


def _nothing() -> None:
    """Release a block that owns its bytes."""
