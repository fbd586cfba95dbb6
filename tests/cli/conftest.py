from pathlib import Path

import pytest

from tests.cli.running import Command
from tests.places import CACHE
from tests.small_rules import write_rules


@pytest.fixture(scope="session")
def firstfault() -> Command:
    return Command(CACHE)


@pytest.fixture
def plant(firstfault: Command, tmp_path: Path) -> Command:
    """The command with a folder of small rules that a test may spoil."""
    return firstfault.with_rules(write_rules(tmp_path / "rules"))
