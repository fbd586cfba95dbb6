"""The shipped rulebook, compiled."""

from pathlib import Path

from app.rulebook.compiled import Compiled
from app.rulebook.load import load

RULES = Path(__file__).parents[2] / "rules"


def compiled_rules() -> Compiled:
    """Load and compile the rules of this source tree, without a cache."""
    return Compiled(load(RULES))
