"""Find the nearest vectors with Chroma: an index that can be lost and made again at any time.

The truth about incidents, vectors among it, lies in SQL. Chroma only says which ids are near, and
its graph search overlooks some, so callers rank by their own reckoning. An embedded folder belongs
to one process, by a lock; a kill while it writes can ruin it for good (chroma-core/chroma#7678).
A ruined one is put aside and begun anew, and whoever fills it sees by `ids` that all is missing.
"""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import httpx
import numpy as np
from chromadb import Collection, HttpClient, PersistentClient
from chromadb.api import ClientAPI
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.config import Settings
from chromadb.errors import ChromaError

from app.errors import UsageError
from app.memory.embed import Vectors
from app.memory.folder import mark_of
from app.memory.index import IndexBroken, IndexGone

_SECONDS = 5.0  # for one answer of a server
_BATCH = 2000  # Chroma takes 5461 at once
_PANIC = "PanicException"  # what a panic in Chroma's Rust becomes; no module exports the class
_URL = re.compile(r"(?P<scheme>https?)://(?P<host>[^/:\s]+)(?::(?P<port>\d{1,5}))?/?")


class Place(Protocol):
    """Where a Chroma is."""

    def connect(self) -> ClientAPI:
        """Open it."""

    def opened(self) -> None:
        """Note that it could be opened and searched."""

    def put_aside(self) -> None:
        """Take what is there out of the way."""


class ChromaIndex:
    """One collection of an embedded or served Chroma; `space` names what its vectors are.

    For one thread at a time.
    """

    def __init__(self, place: Place, space: str) -> None:
        self._place = place
        self._name = re.sub(r"[^a-zA-Z0-9._-]", "-", f"incidents-{space}")[:128]
        self._opened: Collection | None = None

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Take vectors in; those of known ids are replaced."""
        with self._told():
            for begin in range(0, len(ids), _BATCH):
                part = slice(begin, begin + _BATCH)
                self._collection.upsert(ids=list(ids[part]), embeddings=vectors[part])

    def nearest(self, vector: Vectors, most: int) -> list[str]:
        """Give the ids of near vectors, the nearest first."""
        with self._told():
            found = self._collection.query(
                query_embeddings=vector[np.newaxis], n_results=most, include=[]
            )
            return list(found["ids"][0])

    def ids(self) -> set[str]:
        """Say what is in it."""
        with self._told():
            known: set[str] = set()
            while found := self._collection.get(limit=_BATCH, offset=len(known), include=[])["ids"]:
                known.update(found)
            return known

    def begin_anew(self) -> None:
        """Put what is there aside and begin with an empty index."""
        self._opened = None
        with self._told():
            self._place.put_aside()
            client = self._place.connect()
            if self._name in {collection.name for collection in client.list_collections()}:
                client.delete_collection(self._name)
            self._place.opened()

    @property
    def _collection(self) -> Collection:
        if self._opened is None:
            self._opened = self._place.connect().get_or_create_collection(
                self._name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
            _probe(self._opened)
            self._place.opened()
        return self._opened

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what Chroma raises into our errors."""
        try:
            yield
        except (httpx.HTTPError, ConnectionError) as error:
            self._opened = None
            raise IndexGone(f"the Chroma server does not answer: {error}") from error
        except (ChromaError, OSError, RuntimeError, TypeError, ValueError, KeyError) as error:
            self._opened = None
            if "Could not connect" in str(error):
                raise IndexGone("the Chroma server does not answer") from error
            raise IndexBroken(f"the index of incidents is broken: {error}") from error
        except BaseException as error:
            if type(error).__name__ != _PANIC:
                raise
            self._opened = None
            raise IndexBroken(f"the index of incidents is broken: {error}") from error


def _probe(collection: Collection) -> None:
    """Look for the neighbour of one vector: a ruined index may open and count and do no more."""
    some = collection.get(limit=1, include=["embeddings"])["embeddings"]
    if some is not None and len(some):
        collection.query(query_embeddings=some, n_results=1, include=[])


class Folder:
    """An embedded Chroma, of which this process must be the owner.

    Chroma crashes on some ruins. So a mark stands beside the folder while it is opened; who finds
    one knows that the last owner did not live to take it away.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mark = mark_of(folder)

    def connect(self) -> ClientAPI:
        """Open it."""
        if self._mark.exists():
            self.put_aside()
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._mark.touch()
        return PersistentClient(self._folder, Settings(anonymized_telemetry=False))

    def opened(self) -> None:
        """Note that it could be opened and searched."""
        self._mark.unlink(missing_ok=True)

    def put_aside(self) -> None:
        """Rename the folder; what was put aside before is removed."""
        SharedSystemClient.clear_system_cache()  # else the same path is given the same ruin
        broken = self._folder.with_name(f"{self._folder.name}.broken")
        if broken.is_dir():
            shutil.rmtree(broken, ignore_errors=True)
        else:
            broken.unlink(missing_ok=True)
        if self._folder.exists():
            self._folder.rename(broken)
        self.opened()


class Server:
    """A Chroma that others may use too."""

    def __init__(self, url: str) -> None:
        parts = _URL.fullmatch(url)
        if parts is None:
            raise UsageError(f"FIRSTFAULT_CHROMA_URL: {url!r} is not like http://host:8000")
        self._host, self._secure = parts["host"], parts["scheme"] == "https"
        self._port = int(parts["port"] or (443 if self._secure else 8000))

    def connect(self) -> ClientAPI:
        """Open it; Chroma itself would wait for ever for a server that does not answer."""
        self.heartbeat()
        told = Settings(anonymized_telemetry=False)
        client = HttpClient(self._host, self._port, ssl=self._secure, settings=told)
        session = getattr(getattr(client, "_server", None), "_session", None)
        if isinstance(session, httpx.Client):
            session.timeout = httpx.Timeout(_SECONDS)
        return client

    def heartbeat(self) -> None:
        """Raise httpx.HTTPError where it does not answer in time."""
        scheme = "https" if self._secure else "http"
        alive = f"{scheme}://{self._host}:{self._port}/api/v2/heartbeat"
        httpx.get(alive, timeout=_SECONDS).raise_for_status()

    def opened(self) -> None:
        """Do nothing: a server that crashes is not this process."""

    def put_aside(self) -> None:
        """Do nothing: the collection is deleted instead."""


def embedded(folder: Path, space: str) -> ChromaIndex:
    """Make the index in a folder; opened when used."""
    return ChromaIndex(Folder(folder), space)


def served(url: str, space: str) -> ChromaIndex:
    """Make the index on a server; raise UsageError for what is no URL of one."""
    return ChromaIndex(Server(url), space)
