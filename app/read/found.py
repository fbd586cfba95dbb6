"""What the parts of one line's prefix say together: the rank, the host, the time, the stream."""

from app.model import Prefix
from app.read import told
from app.read.labels import Tasks

NOTHING = Prefix()


class Found:
    """What the parts of one line said so far; `held` is where the message begins once it has."""

    __slots__ = ("actor", "held", "host", "local", "process", "rank", "task", "time")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the last line; one object serves a whole file, since there are many lines."""
        self.rank: int | None = None
        self.task: int | None = None
        self.host: str | None = None
        self.time: float | None = None
        self.local = self.actor = self.process = ""
        self.held = -1

    def prefix(self, raw: str, end: int, tasks: Tasks) -> Prefix:
        """Give the prefix of a line whose message begins at `end`."""
        if self.rank is None and raw.startswith("[", end):
            self.rank = told.rank_in_brackets(raw, end)
        rank, task = self.rank, self.task
        if task is not None:
            if self.local or (rank is not None and rank != task):
                tasks.start_several()
            elif tasks.are_ranks:
                rank = task
        if self.actor:
            stream = self.actor
        elif rank is not None:
            stream = f"rank {rank}"
        elif self.process:
            stream = self.process
        elif task is not None or self.local:
            outer = self.host or "" if task is None else f"task {task}"
            stream = f"{outer} {self.local}".strip()
        elif end == 0 and self.time is None and self.host is None:
            return NOTHING
        else:
            stream = self.host or ""
        return Prefix(end, rank, self.host, self.time, stream)
