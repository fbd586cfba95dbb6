"""Bytes of a log file as UTF-8 text bytes: gzip, zstd, UTF-16 undone; size limits kept.

What a file is, its first bytes tell, never its name. Bytes that are no valid UTF-8 stay as they
are. A decompressed text may not pass the limit (a small archive can unfold to terabytes).
"""

import codecs
import io
import os
import stat
import sys
from gzip import BadGzipFile
from typing import BinaryIO, Protocol, cast

from isal import igzip, igzip_lib, isal_zlib

from app.errors import SourceError, SourceTooLarge
from app.read.source import Source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_DAMAGED = cast(  # isal's stubs call its exception classes instances
    "tuple[type[Exception], ...]",
    (BadGzipFile, igzip_lib.IsalError, isal_zlib.error, zstd.ZstdError),
)
_HEAD = 4096
_CONTROL = bytes([*range(1, 7), *range(14, 27), *range(28, 32)])
_PROGRAMS = {
    b"\x7fELF": "an ELF program",
    b"PK\x03\x04": "a zip archive (a checkpoint?)",
    b"\x89PNG": "a PNG picture",
    b"%PDF-": "a PDF",
    b"\x80\x02": "a Python pickle",
    b"\x80\x04": "a Python pickle",
    b"BZh": "a bzip2 archive; give it as gzip or zstd",
    b"\xfd7zXZ": "an xz archive; give it as gzip or zstd",
    b"SQLite format 3": "an SQLite database",
}


class Reader(Protocol):
    """The one thing that is asked of an open log."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fill the buffer from its start; 0 at the end."""


class Text:
    """An open log as text bytes; counts what it gave, refuses to pass its limit."""

    def __init__(self, source: Source, max_bytes: int) -> None:
        self.name = source.name
        self.given = 0
        self.note: str | None = None
        self._limit = max_bytes
        self._file = source.open()
        self._head = _peek(self._file, source.name)
        self._reader = self._decoder()

    def readinto(self, buffer: memoryview) -> int:
        """Fill the buffer as far as one read goes; 0 at the end."""
        try:
            got = self._reader.readinto(buffer) or 0
        except EOFError as error:
            raise self._broken("ends too early: the file is truncated") from error
        except _DAMAGED as error:
            raise self._broken(f"is damaged: {error}") from error
        except OSError as error:
            raise SourceError(f"{self.name}: cannot be read: {error.strerror or error}") from error
        self.given += got
        if self.given > self._limit:
            raise SourceTooLarge(
                f"{self.name}: more than {self._limit} bytes of text, the limit for one log"
            )
        return got

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _broken(self, why: str) -> SourceError:
        return SourceError(
            f"{self.name}: the compressed data {why} (after {self.given} bytes of text)"
        )

    def _decoder(self) -> Reader:
        start = self._head.getvalue()
        for magic, what in _PROGRAMS.items():
            if start.startswith(magic):
                raise SourceError(f"{self.name}: not a log but {what}")
        whole = _Joined(self._head, _up_to_now(self._file))
        if start.startswith(b"\x1f\x8b"):
            return _utf8(_gunzip(whole))
        if start.startswith(b"\x28\xb5\x2f\xfd"):
            return _utf8(zstd.ZstdFile(io.BufferedReader(whole)))
        if _is_binary(start):
            raise SourceError(f"{self.name}: not a text log (binary data)")
        return _utf8(whole)


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

    def __init__(self, file: BinaryIO, left: int) -> None:
        self._file = file
        self._left = left

    def readinto(self, buffer: memoryview) -> int:
        got = self._file.readinto(buffer[: self._left]) or 0  # type: ignore[attr-defined]
        self._left -= got
        return int(got)


class _Transcoded:
    """UTF-16 text as UTF-8."""

    def __init__(self, head: bytes, rest: Reader, encoding: str) -> None:
        self._rest = rest
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._ready = self._decoder.decode(head).encode()
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


def _peek(file: BinaryIO, name: str) -> io.BytesIO:
    head = b""
    try:
        while len(head) < _HEAD:
            part = file.read(_HEAD - len(head))
            if not part:
                break
            head += part
    except OSError as error:
        raise SourceError(f"{name}: cannot be read: {error.strerror or error}") from error
    return io.BytesIO(head)


def _up_to_now(file: BinaryIO) -> Reader:
    try:
        about = os.fstat(file.fileno())
    except (OSError, ValueError):
        return file  # type: ignore[return-value]  # a stream without a descriptor
    if stat.S_ISREG(about.st_mode):
        return _Window(file, max(0, about.st_size - file.tell()))
    return file  # type: ignore[return-value]


def _utf8(reader: Reader) -> Reader:
    start = bytearray(3)
    got = 0
    while got < 3:
        more = reader.readinto(memoryview(start)[got:]) or 0
        if not more:
            break
        got += more
    head = bytes(start[:got])
    if head.startswith(codecs.BOM_UTF8):
        return reader
    for bom, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if head.startswith(bom):
            return _Transcoded(head[2:], reader, encoding)
    return _Joined(io.BytesIO(head), reader)


def _is_binary(head: bytes) -> bool:
    """Tell programs and tensors from text with a few bad bytes, NUL runs, bells and backspaces."""
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return False
    text = head.replace(b"\0", b"")
    control = len(text) - len(text.translate(None, _CONTROL))
    return len(text) > 64 and control > len(text) * 0.2
