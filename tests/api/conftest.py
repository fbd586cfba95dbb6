from collections.abc import Callable, Iterator

import httpx2
import pytest

from tests.api.server import Server, running
from tests.postgres import Postgres


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest) -> Callable[[], dict[str, str]]:
    """Give the settings of an empty database of each kind, one for each server."""
    if request.param == "sqlite":
        return dict
    server: Postgres = request.getfixturevalue("postgres_server")
    return lambda: {"database_url": server.new_database()}


@pytest.fixture(scope="session")
def server(
    tmp_path_factory: pytest.TempPathFactory, new_database: Callable[[], dict[str, str]]
) -> Iterator[Server]:
    """A server for all tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("server")
    roots = folder / "logs"
    roots.mkdir()
    limits = {"workers": 2, "max_upload_bytes": 64 << 20}
    with running(folder / "data", log_roots=roots, **limits, **new_database()) as found:
        yield found


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[httpx2.Client]:
    with server.client() as found:
        yield found
