"""Logs in an object store that speaks S3: looked at, and copied to the disk to be read.

The store may be slow, gone or of another mind about who may read what. So all calls end within a
time, and every failure is a SourceError that names the object. The client is imported at the first
use.
"""

import asyncio
import contextlib
import hashlib
import shutil
import tempfile
import time
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from app.errors import (
    SourceError,
    SourceGone,
    SourceNotFound,
    SourceTooLarge,
    StoreError,
    UsageError,
)
from app.work.object_names import SCHEME, ObjectName, named

if TYPE_CHECKING:
    from s3fs import S3FileSystem

_T = TypeVar("_T")

_MOST_OBJECTS = 10_000  # of one job, as of `uris`
_AT_ONCE = 8
_BLOCK = 8 << 20
_CONNECT_SECONDS, _READ_SECONDS, _TRIES = 5, 20, 4
_LOOK_SECONDS = 45.0
_LEFT_BEHIND_SECONDS = 6 * 3600  # age of a copy whose process must have been killed


@dataclass(frozen=True, slots=True)
class Found:
    """An object that is there; `mark` changes with its content."""

    key: str
    size: int
    mark: str
    written_at: float


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """Where objects are, and a folder for copies of them; all calls block."""

    endpoint: str | None
    folder: Path
    max_bytes: int
    min_free_bytes: int = 0

    def objects(self, name: ObjectName) -> list[Found]:
        """List what is there under a name, in order of keys; raise SourceError."""
        client = _client(self.endpoint)
        with _told(name):
            found = [each for each in _listed(client, name) if each.size]
        if not found:
            raise SourceNotFound(f"{name}: no such object, or nothing in it")
        if len(found) > _MOST_OBJECTS:
            raise SourceTooLarge(f"{name}: more than {_MOST_OBJECTS} objects; name the job's own")
        return sorted(found, key=lambda each: each.key)

    def check(self, name: ObjectName) -> None:
        """Raise SourceError where a place cannot be listed."""
        client, path = _client(self.endpoint), f"{name.bucket}/{name.key}"
        with _told(name):
            _within(client, client._lsdir(path, max_items=1))

    def jobs(self, name: ObjectName) -> list[ObjectName]:
        """List what lies directly below a folder, each one job."""
        names = {}
        for each in self.objects(name):
            first, slash, _ = each.key.removeprefix(name.key).partition("/")
            names[first + slash] = ObjectName(name.bucket, name.key + first + slash)
        return list(names.values())

    @contextlib.contextmanager
    def copied(self, names: Sequence[ObjectName]) -> Iterator[list[Path]]:
        """Have objects on the disk for the length of a block, laid out by their keys."""
        found = [(name, self.objects(name)) for name in names]
        self._check_room(sum(each.size for _, objects in found for each in objects))
        with self._temporary() as folder, ThreadPoolExecutor(_AT_ONCE) as pool:
            for name, objects in found:
                copies = [pool.submit(self._copy, name, each, folder) for each in objects]
                for copy in copies:
                    copy.result()
            yield [folder / name.bucket / name.key for name in names]

    def remove_left_behind(self) -> int:
        """Remove copies whose process was killed; give their number."""
        if not self.folder.is_dir():
            return 0
        old = time.time() - _LEFT_BEHIND_SECONDS
        left = [path for path in self.folder.iterdir() if path.stat().st_mtime < old]
        for path in left:
            shutil.rmtree(path, ignore_errors=True)
        return len(left)

    def _check_room(self, size: int) -> None:
        if size > self.max_bytes:
            raise SourceTooLarge(
                f"the objects hold {size} bytes, more than {self.max_bytes} "
                "(FIRSTFAULT_MAX_LOG_BYTES)"
            )
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        free = shutil.disk_usage(self.folder).free - self.min_free_bytes
        if size > free:
            raise StoreError(f"{size} bytes of objects do not fit on the disk: {free} are free")

    @contextlib.contextmanager
    def _temporary(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True) as folder:
            yield Path(folder)

    def _copy(self, name: ObjectName, each: Found, folder: Path) -> None:
        """Copy one object as it was listed; what is appended meanwhile is not taken."""
        own = named(f"{SCHEME}{name.bucket}/{each.key}")  # a listing may hold any key
        path, left = folder / own.bucket / own.key, each.size
        path.parent.mkdir(parents=True, exist_ok=True)
        client = _client(self.endpoint)
        with _told(own):
            source = client.open(str(own), "rb", block_size=_BLOCK)
        with source, path.open("wb") as target:
            while left:
                with _told(own):
                    block = source.read(min(_BLOCK, left))
                if not block:
                    raise SourceError(f"{own}: has become shorter while it was copied")
                left -= len(block)
                _write(target, block)


def _write(target: BinaryIO, block: bytes) -> None:
    try:
        target.write(block)
    except OSError as error:
        raise StoreError(f"a copy of an object cannot be written: {error.strerror}") from error


@contextlib.contextmanager
def copies(places: Sequence[str], store: ObjectStore | None) -> Iterator[list[str]]:
    """Give the paths of logs, those in the object store as copies that go with the block."""
    names = {place: named(place) for place in places if place.startswith(SCHEME)}
    if not names:
        yield list(places)
        return
    if store is None:
        raise SourceError("logs in an object store cannot be read here")
    with store.copied(list(names.values())) as paths:
        local = dict(zip(names, map(str, paths), strict=True))
        yield [local.get(place, place) for place in places]


def looks(objects: Sequence[Found]) -> str:
    """Give a hash that changes with any of them."""
    told = "\n".join(f"{each.key} {each.size} {each.mark}" for each in objects)
    return hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()


@cache
def _client(endpoint: str | None) -> "S3FileSystem":
    """Make the client of this process; keys and region come from the usual AWS variables."""
    try:
        from s3fs import S3FileSystem
    except ImportError as error:
        raise UsageError("s3:// needs the extra: pip install 'firstfault[s3]'") from error
    return S3FileSystem(
        endpoint_url=endpoint,
        use_listings_cache=False,
        skip_instance_cache=True,
        config_kwargs={
            "connect_timeout": _CONNECT_SECONDS,
            "read_timeout": _READ_SECONDS,
            "retries": {"max_attempts": _TRIES, "mode": "standard"},
        },
    )


def _within(client: "S3FileSystem", call: Coroutine[None, None, _T]) -> _T:
    """Make a call on the thread of the client; raise TimeoutError where it takes too long."""
    loop: asyncio.AbstractEventLoop = client.loop
    return asyncio.run_coroutine_threadsafe(asyncio.wait_for(call, _LOOK_SECONDS), loop).result()


def _listed(client: "S3FileSystem", name: ObjectName) -> Iterator[Found]:
    path = f"{name.bucket}/{name.key}"
    if name.is_folder:
        told = _within(client, client._find(path, detail=True))
        infos = [info for info in told.values() if info["type"] == "file"]
    else:
        infos = [_within(client, client._info(path))]
    for info in infos:
        if info["type"] != "file":
            raise SourceNotFound(f"{name}: no such object; a folder's name ends in a slash")
        key = str(info["name"]).partition("/")[2]
        written: datetime = info["LastModified"]
        yield Found(key, int(info["size"]), str(info.get("ETag")), written.timestamp())


@contextlib.contextmanager
def _told(name: ObjectName) -> Iterator[None]:
    """Name every failure of the store."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except FileNotFoundError as error:
        raise SourceNotFound(f"{name}: no such object") from error
    except PermissionError as error:
        raise SourceError(f"{name}: the object store denies access: {error}") from error
    except (TimeoutError, OSError, BotoCoreError, ClientError) as error:
        why = str(error) or "no answer in time"
        raise SourceGone(f"{name}: cannot be had from the object store: {why}") from error
