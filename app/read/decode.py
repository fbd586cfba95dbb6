"""Bytes of a log file as UTF-8 text bytes: gzip, zstd, UTF-16 undone; size limits kept.

What a file is, its first bytes tell, never its name. Bytes that are no valid UTF-8 stay as they
are. A decompressed text may not pass the limit (a small archive can unfold to terabytes).
"""

import codecs
import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile
from typing import BinaryIO, Protocol, cast

from isal import igzip, igzip_lib, isal_zlib

from app.errors import SourceError, SourceTooLarge
from app.read.kind import HEAD_BYTES, no_log, packing
from app.read.records import unpacked
from app.read.source import Source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_DAMAGED = cast(  # isal's stubs call its exception classes instances
    "tuple[type[Exception], ...]",
    (BadGzipFile, igzip_lib.IsalError, isal_zlib.error, zstd.ZstdError),
)


class Reader(Protocol):
    """The one thing that is asked of an open log."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fill the buffer from its start; 0 at the end."""


class Text:
    """An open log as text bytes; counts what it gave, refuses to pass its limit."""

    def __init__(self, source: Source, max_bytes: int) -> None:
        self.name = source.name
        self.given = 0
        self._limit = max_bytes
        self._file = source.open()
        try:
            with self._faults_told():
                self._reader = self._decoder()
        except SourceError:
            self.close()
            raise

    def readinto(self, buffer: memoryview) -> int:
        """Fill the buffer as far as one read goes; 0 at the end."""
        with self._faults_told():
            got = self._reader.readinto(buffer) or 0
        self.given += got
        if self.given > self._limit:
            raise SourceTooLarge(
                f"{self.name}: more than {self._limit} bytes of text, the limit for one log"
            )
        return got

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @contextmanager
    def _faults_told(self) -> Iterator[None]:
        try:
            yield
        except EOFError as error:
            raise self._broken("ends too early: the file is truncated") from error
        except _DAMAGED as error:
            raise self._broken(f"is damaged: {error}") from error
        except OSError as error:
            raise SourceError(f"{self.name}: cannot be read: {error.strerror or error}") from error

    def _broken(self, why: str) -> SourceError:
        return SourceError(
            f"{self.name}: the compressed data {why} (after {self.given} bytes of text)"
        )

    def _decoder(self) -> Reader:
        head = _head(cast(Reader, self._file))
        whole = _Joined(io.BytesIO(head), _up_to_now(self._file))
        match packing(head):
            case "gzip":
                unpacked = _gunzip(whole)
            case "zstd":
                unpacked = zstd.ZstdFile(io.BufferedReader(whole))
            case None:
                return self._text(head, whole)
        head = _head(unpacked)
        return self._text(head, _Joined(io.BytesIO(head), unpacked))

    def _text(self, head: bytes, whole: "_Joined") -> Reader:
        what = no_log(head)
        if what:
            raise SourceError(f"{self.name}: not a log but {what}")
        return unpacked(_utf8(head, whole))


def _gunzip(whole: io.RawIOBase) -> Reader:
    reader: Reader = igzip.IGzipFile(fileobj=io.BufferedReader(whole))  # type: ignore[no-untyped-call]
    return reader


class _Joined(io.RawIOBase):
    """The bytes already read, then the rest of the file."""

    def __init__(self, head: io.BytesIO, rest: Reader) -> None:
        self._parts: list[Reader] = [head, rest]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]  # typeshed: Buffer
        while self._parts:
            got = self._parts[0].readinto(view) or 0
            if got:
                return got
            self._parts.pop(0)
        return 0


class _Window:
    """A regular file up to the size that it had when it was opened: it may still grow."""

    def __init__(self, file: Reader, left: int) -> None:
        self._file = file
        self._left = left

    def readinto(self, buffer: memoryview) -> int:
        got = self._file.readinto(buffer[: self._left]) or 0
        self._left -= got
        return got


class _Transcoded:
    """UTF-16 text as UTF-8."""

    def __init__(self, rest: Reader, encoding: str) -> None:
        self._rest = rest
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._ready = b""
        self._chunk = memoryview(bytearray(1 << 20))

    def readinto(self, buffer: memoryview) -> int:
        while not self._ready:
            got = self._rest.readinto(self._chunk) or 0
            text = self._decoder.decode(bytes(self._chunk[:got]), final=not got)
            self._ready = text.encode()
            if not got and not self._ready:
                return 0
        part = self._ready[: len(buffer)]
        buffer[: len(part)] = part
        self._ready = self._ready[len(part) :]
        return len(part)


def _head(reader: Reader) -> bytes:
    head = memoryview(bytearray(HEAD_BYTES))
    got = 0
    while got < len(head):
        more = reader.readinto(head[got:]) or 0
        if not more:
            break
        got += more
    return bytes(head[:got])


def _up_to_now(file: BinaryIO) -> Reader:
    """End a plain file where it ends now; other streams, which may unpack a file, at their end."""
    whole = cast(Reader, file)
    if not isinstance(getattr(file, "raw", file), io.FileIO):
        return whole
    about = os.fstat(file.fileno())
    if not stat.S_ISREG(about.st_mode) or not about.st_size:  # files of /proc have no size
        return whole
    return _Window(whole, max(0, about.st_size - file.tell()))


def _utf8(head: bytes, whole: Reader) -> Reader:
    """Drop a byte order mark; two bad bytes before plain text, which holds no NUL, are none."""
    for bom, encoding in (
        (codecs.BOM_UTF8, None),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if head.startswith(bom) and (encoding is None or b"\0" in head or head == bom):
            whole.readinto(memoryview(bytearray(len(bom))))  # it stands in the head, in one piece
            return _Transcoded(whole, encoding) if encoding else whole
    return whole
