"""Lines that a shipper packed into records, one in each: JSON objects, or logfmt.

{"log":"KeyError: 'text'\\n","stream":"stderr","time":"2026-05-01T10:00:00.1Z"}
{"severity":"ERROR","textPayload":"KeyError: 'text'","timestamp":"2026-05-01T10:00:00Z"}
time="2026-05-01T10:00:00Z" level=info msg="KeyError: 'text'"

A file whose records hold a text and nothing but words about it is read as the text that was
packed: when, which pod or host, which rank, and what was said, each in the place where a program
prints it. What says more in its own fields, as a step and its loss do, is no packing and stays as
it is, and so does each line that is no such record. A line stays one line.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol

_LOOKED_AT = 64 << 10  # bytes
_FEWEST = 5  # lines
_SHARE = 0.95  # of the lines; some print beside their shipper
_LONGEST = 4 << 20  # bytes of a line that is opened
_TEXTS = ("log", "textPayload", "message", "MESSAGE", "msg", "line", "text", "content")
_TIMES = ("time", "timestamp", "@timestamp", "ts", "asctime", "_SOURCE_REALTIME_TIMESTAMP")
_RANKS = ("rank", "global_rank")
_HOSTS = ("pod", "pod_name", "host", "hostname", "node", "node_name", "_HOSTNAME")
_ABOUT = frozenset(
    (*_TEXTS, *_TIMES, *_RANKS, *_HOSTS)
    + ("stream", "level", "severity", "levelname", "logger", "name", "tag", "kubernetes", "docker")
    + ("container", "container_name", "container_id", "namespace", "namespace_name", "labels")
    + ("resource", "insertId", "logName", "receiveTimestamp", "source", "source_type", "partial")
    + (
        "job",
        "job_id",
        "job_name",
        "app",
        "service",
        "pid",
        "_PID",
        "SYSLOG_IDENTIFIER",
        "PRIORITY",
    )
    + ("@version", "agent", "ecs", "input", "offset", "file", "filename", "_p", "logtag", "caller")
)
_LEVELS = ("level", "severity", "levelname")
_FIELD = re.compile(r'([\w.@-]+)=("(?:[^"\\]|\\.)*"(?=\s|$)|".*"$|\S*)\s*')
_NANO, _MILLI = 1e17, 1e11  # from which on a number counts nanoseconds, milliseconds

Fields = Mapping[str, object]


class Reader(Protocol):
    """An open text."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Fill the buffer from its start; 0 at the end."""


def unpacked(reader: Reader) -> Reader:
    """Give a reader of the text that records hold, or of what is there if it is not packed."""
    head = _head(reader)
    raws = head.split(b"\n")[: None if len(head) < _LOOKED_AT else -1]
    lines = [raw.decode("utf-8", "replace") for raw in raws if raw.strip()]
    form = _form(lines) if len(lines) >= _FEWEST else None
    return _After(head, reader) if form is None else _Unpacked(_After(head, reader), form)


def _form(lines: Sequence[str]) -> Callable[[str], str | None] | None:
    """Learn how lines are opened; None where they are no records with a text."""
    for read in (_json, _logfmt):
        if not read(lines[0]):
            continue
        records = [record for line in lines if (record := read(line))]
        packing = [
            record for record in records if _said(record) is not None and _ABOUT.issuperset(record)
        ]
        if len(packing) < _SHARE * len(lines):
            return None
        levels = {record.get(name) for record in packing for name in _LEVELS}
        has_levels = len(levels - {None}) > 1  # a level that all have says nothing
        return lambda line: _told(read(line), has_levels=has_levels)
    return None


def _json(line: str) -> Fields | None:
    if not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _logfmt(line: str) -> Fields | None:
    fields: dict[str, object] = {}
    at = 0
    while at < len(line):
        found = _FIELD.match(line, at)
        if found is None:
            return None
        fields[found[1]] = _unquoted(found[2])
        at = found.end()
    return fields


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        return value[1:-1]


def _said(record: Fields) -> str | None:
    return next((text for name in _TEXTS if isinstance(text := record.get(name), str)), None)


def _told(record: Fields | None, *, has_levels: bool) -> str | None:
    """Spell a record as a program prints a line; None where it says more than its text."""
    text = _said(record) if record else None
    if record is None or text is None or not _ABOUT.issuperset(record):
        return None
    parts = [_place(record), _time(record)]
    rank = next((r for name in _RANKS if isinstance(r := record.get(name), int)), None)
    parts.append("" if rank is None else f"[rank{rank}]:")
    level = next((v for name in _LEVELS if isinstance(v := record.get(name), str)), "")
    parts.append(level.upper() if has_levels else "")
    parts.append(text.rstrip("\r\n").replace("\n", "\\n"))
    return " ".join(part for part in parts if part)


def _place(record: Fields) -> str:
    about = record.get("kubernetes")
    nested = about.get("pod_name") if isinstance(about, dict) else None
    named = (nested, *(record.get(name) for name in _HOSTS))
    host = next((name for name in named if isinstance(name, str) and name), None)
    return f"[pod/{host}]" if host and " " not in host else ""


def _time(record: Fields) -> str:
    told = next((record[name] for name in _TIMES if record.get(name)), None)
    try:
        seconds = float(str(told))
        seconds /= 1e9 if seconds > _NANO else 1e3 if seconds > _MILLI else 1
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except (ValueError, OverflowError, OSError):
        return told if isinstance(told, str) else ""


def _head(reader: Reader) -> bytes:
    head = memoryview(bytearray(_LOOKED_AT))
    got = 0
    while got < len(head) and (more := reader.readinto(head[got:]) or 0):
        got += more
    return bytes(head[:got])


class _After:
    """The bytes already read, then the rest."""

    def __init__(self, head: bytes, rest: Reader) -> None:
        self._head = head
        self._rest = rest

    def readinto(self, buffer: memoryview) -> int | None:
        if not self._head:
            return self._rest.readinto(buffer)
        part, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


class _Unpacked:
    """Opens each whole line; bounded by a chunk and the longest line that is opened."""

    def __init__(self, rest: Reader, form: Callable[[str], str | None]) -> None:
        self._rest = rest
        self._form = form
        self._chunk = memoryview(bytearray(1 << 20))
        self._open = b""  # the begin of a line
        self._ready = memoryview(b"")
        self._is_long = False  # in a line too long to be opened

    def readinto(self, buffer: memoryview) -> int:
        while not self._ready:
            got = self._rest.readinto(self._chunk) or 0
            self._ready = memoryview(self._lines(bytes(self._chunk[:got]), is_last=not got))
            if not got and not self._ready:
                return 0
        part = self._ready[: len(buffer)]
        buffer[: len(part)] = part
        self._ready = self._ready[len(part) :]
        return len(part)

    def _lines(self, data: bytes, *, is_last: bool) -> bytes:
        *whole, self._open = (self._open + data).split(b"\n")
        told = [raw if self._goes_on(place) else self._line(raw) for place, raw in enumerate(whole)]
        if whole:
            self._is_long = False
        if len(self._open) > _LONGEST or (is_last and self._open):
            as_is = len(self._open) > _LONGEST or self._is_long
            told.append(self._open if as_is else self._line(self._open))
            self._open, self._is_long = b"", not is_last
            return b"\n".join(told)
        return b"\n".join([*told, b""])

    def _goes_on(self, place: int) -> bool:
        return self._is_long and not place

    def _line(self, raw: bytes) -> bytes:
        told = self._form(raw.decode("utf-8", "replace").rstrip("\r"))
        return raw if told is None else told.encode("utf-8", "replace")
