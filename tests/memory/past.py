"""Past incidents for tests: a database of its own, and failures that are alike or not."""

import time
from collections.abc import Sequence
from pathlib import Path

from app.incident import Snippet
from app.memory.embed import HashingEmbedder
from app.memory.nearest import Memory
from app.model import Job
from app.store.database import connect, transaction
from app.store.diagnoses import Diagnoses, Request, Upload
from app.store.ids import new_id
from app.store.incidents import Incidents, remember
from app.store.migrate import migrate
from app.store.outcome import Outcome, Remembered

FAILURES = {
    "ECCError": "NVRM: Xid 48, An uncorrectable double bit error was detected on the GPU",
    "OutOfMemoryError": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate # GiB",
    "KeyError": "KeyError: 'packed_ids'",
    "FileNotFoundError": "FileNotFoundError: [Errno 2] No such file or directory: '/shard.bin'",
    "NetworkError": "mlx5_0: port 1 link down, local protection error on the queue pair",
    "DataloaderKilled": "RuntimeError: DataLoader worker is killed by signal: Bus error",
}


class Past:
    """A database with diagnoses that became incidents."""

    def __init__(self, folder: Path, name: str = "f.db") -> None:
        self.url = f"sqlite:///{folder / name}"
        self._engine = connect(self.url)
        migrate(self._engine)
        self.diagnoses = Diagnoses(self._engine)
        self.incidents = Incidents(self._engine)

    def add(self, cause: str, *lines: str, fingerprint: str = "") -> str:
        """Complete a diagnosis; give the id of its incident."""
        id = new_id()
        job = Job(job_id="4711", cluster="north", job_type="pretrain")
        self.diagnoses.add(Request(id, job, (Upload("0" * 64),)))
        told = Remembered(fingerprint or id, Snippet(lines or (FAILURES[cause],)), job)
        self.diagnoses.finish(id, outcome(cause, told))
        return id.replace("dg_", "in_")

    def add_many(self, cause: str, lines: Sequence[str]) -> None:
        """Add incidents of one line each, all at once and without their diagnoses."""
        with transaction(self._engine) as connection:
            for line in lines:
                id = new_id()
                told = Remembered(id, Snippet((line,)), Job())
                remember(connection, id, outcome(cause, told), time.time())

    def memory(self, index=None, embedder=None) -> Memory:
        """Give a memory that knows all of it."""
        found = Memory(self.incidents, embedder or HashingEmbedder(), index)
        found.catch_up()
        return found

    def close(self) -> None:
        self._engine.dispose()


def outcome(cause: str, told: Remembered) -> Outcome:
    return Outcome("{}", "", cause, "domain", "low", "none", "", remembered=told)
