"""What tests of several modules share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.rulebook.compiled import Compiled
from tests.own_rules import COMPILED
from tests.postgres import MISSING, Postgres, postgres

# These start real processes, kill them, and wait for them by the clock of a busy machine.
_OF_PROCESSES = ("api", "faults", "llama", "memory", "senders", "slurm", "work", "test_service.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try a test of real processes once more before it fails; the summary lists it as RERUN."""
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).parts[0] in _OF_PROCESSES:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def compiled() -> Compiled:
    """The project's own rulebook, ready to run."""
    return COMPILED


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """A PostgreSQL server for all tests that make databases of their own in it."""
    if MISSING:
        pytest.skip(MISSING)
    with postgres() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql"])
def each_database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'f.db'}"
    server: Postgres = request.getfixturevalue("postgres_server")
    return server.new_database()
