"""What a log repeats, as hashes: logs of one type of job agree in it, whatever their numbers.

The lines that a job prints at every step come back all over its log; what it prints at its start,
or when it fails, does not. So a template counts that stands in several windows of the log.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from app.compress.template import template_of
from app.written import Outline

_MOST = 64  # templates
_FEWEST_LETTERS = 3


def outline(windows: Sequence[Iterable[str]]) -> Outline:
    """Take the templates that come back; each window gives its lines without their prefixes."""
    least = max(2, len(windows) * 3 // 8)
    seen: Counter[bytes] = Counter()
    for window in windows:
        seen.update({template_of(line.strip().encode("utf-8", "replace")) for line in window})
    repeated = [text for text, count in seen.items() if count >= least and _tells(text)]
    often = sorted(repeated, key=lambda text: (-seen[text], text))[:_MOST]
    return frozenset(_hash(text) for text in often)


def _tells(text: bytes) -> bool:
    letters = sum(char.isalpha() for char in text.decode("utf-8", "replace"))
    return b"#" in text and letters >= _FEWEST_LETTERS


def _hash(text: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text, digest_size=6).digest(), "big")
