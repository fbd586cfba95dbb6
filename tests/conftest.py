"""What tests of several modules share."""

from pathlib import Path

import pytest

from app.rulebook.compiled import Compiled
from app.rulebook.load import load

RULES = Path(__file__).parent.parent / "rules"


@pytest.fixture(scope="session")
def compiled() -> Compiled:
    """The project's own rulebook, ready to run."""
    return Compiled(load(RULES))
