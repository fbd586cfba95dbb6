"""An executor that judges in this very process, where a test can change how."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from app.errors import FirstFaultError
from app.work.judged import chunk_of, silent
from app.work.outcomes import fault_of
from app.work.rejudge import Desk


class Here(ThreadPoolExecutor):
    """Threads that judge by themselves; what a part comes to is as from another process."""

    def __init__(self, at_once: int) -> None:
        super().__init__(at_once, initializer=self._sit)
        self._own = threading.local()
        self._desks: list[Desk] = []

    def __exit__(self, *faults) -> None:
        super().__exit__(*faults)
        for desk in self._desks:
            desk.close()

    def _sit(self) -> None:
        self._own.desk = None

    def submit(self, call, part, where) -> Future:
        return super().submit(self._judged, part, where)

    def _judged(self, part, where):
        try:
            if self._own.desk is None:
                self._own.desk = Desk(where)
                self._desks.append(self._own.desk)
            return chunk_of(part.applies, list(self._own.desk.judge(part, silent)))
        except FirstFaultError as error:
            return fault_of(error)
