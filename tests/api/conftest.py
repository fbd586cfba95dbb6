from collections.abc import Iterator

import httpx2
import pytest

from tests.api.server import Server, running
from tests.postgres import MISSING, postgres


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The settings of a database of each kind."""
    if request.param == "sqlite":
        yield {}
        return
    if MISSING:
        pytest.skip(MISSING)
    with postgres() as server:
        yield {"database_url": server.url.replace("+psycopg", "")}  # the form that people write


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, database: dict[str, str]) -> Iterator[Server]:
    """A server for all tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("server")
    roots = folder / "logs"
    roots.mkdir()
    limits = {"workers": 2, "max_upload_bytes": 64 << 20}
    with running(folder / "data", log_roots=roots, **limits, **database) as found:
        yield found


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[httpx2.Client]:
    with server.client() as found:
        yield found
