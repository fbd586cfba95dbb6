"""A way to a server that can be made slow, or mute, or be closed."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PIECE = 4096
_GLANCE_SECONDS = 0.02


class Proxy:
    """Passes bytes on as `manner` says: `pass`, `slow`, `mute` (holds them back) or `gone`."""

    def __init__(self, port: int) -> None:
        self.manner = "pass"
        self.seconds = 0.05  # before each piece, while it is slow
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.manner = "gone"
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                caller = self._listener.accept()[0]
                if self.manner == "gone":
                    caller.close()
                    continue
                with suppress(OSError):
                    server = socket.create_connection(("127.0.0.1", self._port))
                    for one, other in ((caller, server), (server, caller)):
                        threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with one, other, suppress(OSError):
            while piece := one.recv(_PIECE):
                while self.manner == "mute":
                    time.sleep(_GLANCE_SECONDS)
                if self.manner == "gone":
                    return
                if self.manner == "slow":
                    time.sleep(self.seconds)
                other.sendall(piece)


@contextmanager
def proxied(endpoint: str) -> Iterator[Proxy]:
    """Stand before a server on this machine for the length of a block."""
    proxy = Proxy(int(endpoint.rpartition(":")[2]))
    try:
        yield proxy
    finally:
        proxy.close()
