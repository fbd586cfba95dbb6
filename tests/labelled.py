"""The stories of `fixtures/`, read once."""

from functools import cache
from pathlib import Path

from app.story import Story, read_stories

ROOT = Path(__file__).parent.parent / "fixtures"


@cache
def stories() -> tuple[Story, ...]:
    """Read all of them."""
    return read_stories(ROOT)
