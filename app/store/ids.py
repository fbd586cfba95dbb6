"""Names that sort by the time they were given: the kind (`dg` for diagnoses) and a ULID."""

import re
import secrets
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
_RANDOM_BITS = 80
_FORM = re.compile(r"dg_[0-7][0-9A-HJKMNP-TV-Z]{25}")


def new_id(kind: str = "dg") -> str:
    """Give a new id."""
    now = int(time.time() * 1000)
    return _written(now << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS), kind)


def first_id_at(seconds: float, kind: str = "dg") -> str:
    """Give the lowest id that a diagnosis, or whatever else, accepted at this time can have."""
    milliseconds = min(max(int(seconds * 1000), 0), (1 << 48) - 1)
    return _written(milliseconds << _RANDOM_BITS, kind)


def accepted_at(id: str) -> float:
    """Tell when an id was given, in seconds since the epoch."""
    number = 0
    for digit in id.rpartition("_")[2]:
        number = number << 5 | _ALPHABET.index(digit)
    return (number >> _RANDOM_BITS) / 1000


def is_id(text: str) -> bool:
    """Say whether this could be an id at all."""
    return _FORM.fullmatch(text) is not None


def _written(number: int, kind: str = "dg") -> str:
    digits = "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -5, -5))
    return f"{kind}_{digits}"
