"""Lines of one kind: they say the same of other numbers, addresses and hashes."""

import re

from app.model import Line

_NUMBERS = re.compile(r"(?<![\dxa-f])[xa-f]*\d[\dxa-f]*")


def in_kind(line: Line) -> str:
    """Give what lines of one kind have in common: their words."""
    return _NUMBERS.sub("#", line.text)
