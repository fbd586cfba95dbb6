"""A listener for tests: a real server that keeps what it is sent and answers as it is told."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Receiver:
    """What came in; `statuses` are answered one after the other, the last one for ever."""

    url: str
    statuses: list[int]
    bodies: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def receiver(statuses: Sequence[int] = (204,), location: str | None = None) -> Iterator[Receiver]:
    """Listen for the length of a block."""

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            found.bodies.append(body.decode())
            found.headers.append({name.lower(): value for name, value in self.headers.items()})
            status = found.statuses[0]
            if len(found.statuses) > 1:
                found.statuses.pop(0)
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    found = Receiver(f"http://127.0.0.1:{server.server_port}/hook", list(statuses))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
