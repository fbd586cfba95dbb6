from collections.abc import Iterator

import httpx2
import pytest

from tests.api.server import Server, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("server")
    roots = folder / "logs"
    roots.mkdir()
    with running(folder / "data", workers=2, log_roots=roots, max_upload_bytes=64 << 20) as found:
        yield found


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[httpx2.Client]:
    with server.client() as found:
        yield found
