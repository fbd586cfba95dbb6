"""A service that senders report to, played by an HTTP server of their own."""

import base64
import http.server
import threading
import time
from collections.abc import Iterator

import pytest

from app.senders.config import Service

SECRET = "whsec_" + base64.b64encode(b"k" * 24).decode()


class Receiver(http.server.ThreadingHTTPServer):
    """A service that answers with the statuses it is given, and then 202."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.statuses: list[int] = []
        self.delay_seconds = 0.0
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Answering(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        told = {name.lower(): value for name, value in self.headers.items()}
        if self.server.delay_seconds:
            time.sleep(self.server.delay_seconds)
        self.server.got.append((told, body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 202)
        self.send_header("location", "/elsewhere")
        self.end_headers()
        self.wfile.write(b"as it was asked")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def service(tmp_path, receiver) -> Service:
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o400)
    return Service(receiver.url, secret, tmp_path / "spool")
