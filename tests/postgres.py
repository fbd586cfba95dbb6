"""A real PostgreSQL server for tests, where its programs are installed."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg

_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
MISSING = None if _PROGRAMS or shutil.which("initdb") else "PostgreSQL is not installed"


def _program(name: str) -> str:
    return str(_PROGRAMS[-1].with_name(name)) if _PROGRAMS else name


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **_as_whom())
    if done.returncode:
        raise AssertionError(f"{command[0]}: {done.stderr or done.stdout}")


def _as_whom() -> dict[str, str]:
    """PostgreSQL refuses to be run by root."""
    return {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Postgres:
    """One server with its own folder, which can be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self.url = f"postgresql+psycopg://postgres@127.0.0.1:{self._port}/postgres"
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
        _run(_program("initdb"), "-D", str(folder / "db"), "-U", "postgres", "--auth=trust", "-N")

    def start(self) -> None:
        options = f"-p {self._port} -k {self._folder} -c listen_addresses=127.0.0.1"
        log = str(self._folder / "log")
        _run(
            _program("pg_ctl"), "-D", str(self._folder / "db"), "-l", log,
            "-o", options, "-w", "start",
        )  # fmt: skip

    def stop(self) -> None:
        _run(_program("pg_ctl"), "-D", str(self._folder / "db"), "-m", "immediate", "-w", "stop")

    def new_database(self) -> str:
        """Make an empty database; give its URL as people write it."""
        name = f"db_{uuid4().hex}"
        with psycopg.connect(self.url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(f"create database {name}".encode())
        return self.url.replace("+psycopg", "").removesuffix("postgres") + name


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Run a server for the length of a block, in a folder that its user may enter."""
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        server = Postgres(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()
