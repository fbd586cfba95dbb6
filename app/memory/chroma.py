"""Find the nearest vectors with Chroma: an index that can be lost and made again at any time.

The truth about incidents, vectors among it, lies in SQL. Chroma only says which ids are near, and
its graph search overlooks some, so callers rank by their own reckoning. An embedded folder belongs
to one process, by a lock; a kill while it writes can ruin it for good (chroma-core/chroma#7678).
A ruined one is put aside and begun anew, and whoever fills it sees by `ids` that all is missing.
"""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from chromadb import Collection, HttpClient, PersistentClient
from chromadb.api import ClientAPI
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.config import Settings
from chromadb.errors import ChromaError
from httpx import HTTPError

from app.errors import UsageError
from app.memory.embed import Vectors
from app.memory.index import IndexBroken, IndexGone

_BATCH = 2000  # Chroma takes 5461 at once
_PANIC = "PanicException"  # what a panic in Chroma's Rust becomes; no module exports the class
_URL = re.compile(r"(?P<scheme>https?)://(?P<host>[^/:\s]+)(?::(?P<port>\d{1,5}))?/?")


class ChromaIndex:
    """One collection of an embedded or served Chroma; `space` names what its vectors are.

    For one thread at a time.
    """

    def __init__(
        self, connect: Callable[[], ClientAPI], space: str, aside: Callable[[], None]
    ) -> None:
        self._connect = connect
        self._aside = aside
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
        """Say what is in it; asks for a neighbour too, since a ruined index may still count."""
        with self._told():
            known: set[str] = set()
            while found := self._collection.get(limit=_BATCH, offset=len(known), include=[])["ids"]:
                known.update(found)
            if known:
                some = self._collection.get(limit=1, include=["embeddings"])["embeddings"]
                self._collection.query(query_embeddings=some, n_results=1, include=[])
            return known

    def begin_anew(self) -> None:
        """Put what is there aside and begin with an empty index."""
        self._opened = None
        with self._told():
            self._aside()
            client = self._connect()
            if self._name in {collection.name for collection in client.list_collections()}:
                client.delete_collection(self._name)

    @property
    def _collection(self) -> Collection:
        if self._opened is None:
            self._opened = self._connect().get_or_create_collection(
                self._name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
        return self._opened

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what Chroma raises into our errors."""
        try:
            yield
        except (HTTPError, ConnectionError) as error:
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


def embedded(folder: Path, space: str) -> ChromaIndex:
    """Make the index in a folder, of which this process must be the owner; opened when used."""
    opening = folder.with_name(f"{folder.name}.opening")

    def connect() -> ClientAPI:
        if opening.exists():  # whoever opened it last did not live to tell
            put_aside()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        opening.touch()
        client = PersistentClient(folder, Settings(anonymized_telemetry=False))
        client.count_collections()
        opening.unlink()
        return client

    def put_aside() -> None:
        SharedSystemClient.clear_system_cache()  # else the same path is given the same ruin
        broken = folder.with_name(f"{folder.name}.broken")
        shutil.rmtree(broken, ignore_errors=True)
        if folder.exists():
            folder.rename(broken)
        opening.unlink(missing_ok=True)

    return ChromaIndex(connect, space, put_aside)


def served(url: str, space: str) -> ChromaIndex:
    """Make the index on a Chroma server; raise UsageError for what is no URL of one."""
    parts = _URL.fullmatch(url)
    if parts is None:
        raise UsageError(f"FIRSTFAULT_CHROMA_URL: {url!r} is not like http://host:8000")
    secure = parts["scheme"] == "https"
    port = int(parts["port"] or (443 if secure else 8000))

    def connect() -> ClientAPI:
        told = Settings(anonymized_telemetry=False)
        return HttpClient(parts["host"], port, ssl=secure, settings=told)

    return ChromaIndex(connect, space, lambda: None)
