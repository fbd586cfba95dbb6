"""The process that judges logs again, one part after the other, for the seat that started it.

It says which log it is at before it looks at it, so that its end can be told from that log.
"""

import os
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue

from app.errors import FirstFaultError
from app.store.outcome import Fault
from app.work import journal
from app.work.judged import Said, Through
from app.work.outcomes import fault_of
from app.work.rejudge import Desk
from app.work.surroundings import Part, Surroundings

_NICENESS = 15  # whoever waits for an answer goes first
_IDLE_SECONDS = 600.0
_SACRIFICE = "500"  # where memory ends, the kernel takes this one and not what has it judge


class _Line:
    """The pipe to the seat; several threads may tell."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self.parts: SimpleQueue[Part] = SimpleQueue()

    def tell(self, said: Said) -> None:
        """Say something; end with who would hear it."""
        try:
            with self._lock:
                self._pipe.send(said)
        except OSError:
            os._exit(1)

    def listen(self) -> None:
        """Take in parts, until there is nobody any more."""
        with suppress(EOFError, OSError):
            while True:
                self.parts.put(self._pipe.recv())
        os._exit(1)


def judge(pipe: Connection) -> None:
    """Judge whatever parts come in; return after a while without any."""
    where: Surroundings = pipe.recv()
    line = _Line(pipe)
    threading.Thread(target=line.listen, daemon=True).start()
    desk = _opened(where)
    with suppress(Empty):
        while True:
            line.tell(_through(desk, line.parts.get(timeout=_IDLE_SECONDS), line))


def _opened(where: Surroundings) -> Desk | Fault:
    try:
        return Desk(where)
    except FirstFaultError as error:
        return fault_of(error)


def _through(desk: Desk | Fault, part: Part, line: _Line) -> Through:
    if isinstance(desk, Fault):
        return Through(desk)
    try:
        for one in desk.judge(part, line.tell):
            line.tell(one)
    except FirstFaultError as error:
        return Through(fault_of(error))
    return Through()


def main() -> None:
    """Judge for the pipe whose number is told."""
    for told in (signal.SIGINT, signal.SIGTERM):  # often sent to all processes of a service
        signal.signal(told, signal.SIG_IGN)
    os.nice(_NICENESS)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_SACRIFICE)
    journal.set_up("reclassification")
    with suppress(EOFError):
        judge(Connection(int(sys.argv[1])))
    os._exit(0)  # not waiting for threads; nothing here is needed again


if __name__ == "__main__":
    main()
