"""Have logs judged again in processes of their own, so that a bad log costs one verdict.

A log can kill its reader: the kernel takes the process for its memory, or native code crashes. And
one can keep its reader busy for ever. So a process tells which log it is at. Where it dies, that
log is judged once more and alone, since processes are also killed for no fault of a log; where that
one dies too, or at once where a log took too long, it is set aside and another process goes on.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable

import structlog
from sqlalchemy import Engine

from app.errors import FirstFaultError, StoreError
from app.store.database import connect
from app.store.outcome import Fault
from app.store.reclassifications import Reclassifications
from app.store.run import Chunk
from app.work.judged import Measure, Rejudged, chunk_of, set_aside
from app.work.outcomes import fault_of
from app.work.seat import Broken, Died, Late, Seat, Stopped
from app.work.surroundings import Part, Surroundings

STOPPED_SECONDS = 2.0  # between looks whether a run goes on
_TRIES = 2  # with a log on which a process died
_IDLE_DEATHS = 3  # in a row, of processes that were at no log
_KILLED = (
    f"the process that judged it was killed {_TRIES} times; the system log may say by whom (often: "
    "out of memory)"
)

log = structlog.get_logger()


class WorkersLost(FirstFaultError):
    """Processes died, and not on a log that is known."""


class Bench:
    """As many processes as are needed at once; may be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[Seat] = set()
        self._idle: list[Seat] = []
        self._is_closed = False
        self._engines: dict[str, Engine] = {}

    def judge(self, part: Part, where: Surroundings) -> Chunk | Fault | None:
        """Judge a part, or as much of it as is enough; None where the run was stopped meanwhile."""
        is_stopped = self._stopped(part.run, where.database)
        course = _Course(part)
        try:
            while (piece := course.left()) is not None:
                self._go_on(course, piece, where, is_stopped)
        except Stopped:
            return None
        except Broken as error:
            return error.fault
        except WorkersLost as error:
            return fault_of(error)
        return chunk_of(part.applies, course.found)

    def close(self) -> None:
        """End all processes, whatever they do; what waits for them gives None."""
        with self._lock:
            self._is_closed = True
            for seat in self._busy:
                seat.kill()
            idle, self._idle = self._idle, []
        for seat in idle:
            seat.end()
        for engine in self._engines.values():
            engine.dispose()

    def _stopped(self, run: str, database: str) -> Callable[[], bool]:
        """Give what says whether a run goes on no more; it looks now and then."""
        with self._lock:
            if database not in self._engines:
                self._engines[database] = connect(database)
            engine = self._engines[database]
        runs, looked = Reclassifications(engine), time.monotonic()

        def look() -> bool:
            nonlocal looked
            if self._is_closed:  # a process that hangs in a dead file system does not die
                return True
            if time.monotonic() < looked + STOPPED_SECONDS:
                return False
            looked = time.monotonic()
            try:
                return not runs.is_running(run)
            except StoreError:  # who takes the chunk will see for himself
                return False

        return look

    def _go_on(
        self, course: "_Course", piece: Part, where: Surroundings, is_stopped: Callable[[], bool]
    ) -> None:
        seat, is_well = self._taken(where), False
        try:
            for one in seat.judged(piece, is_stopped):
                course.add(one)
            is_well = True
        except Died:
            if self._is_closed:
                raise Stopped from None
            course.blame(seat.at)
        except Late as late:
            course.give_up(late)
        finally:
            self._leave(seat, is_well)

    def _taken(self, where: Surroundings) -> Seat:
        with self._lock:
            if self._is_closed:
                raise Stopped
            left, self._idle = self._idle, []
            fit = [seat for seat in left if seat.where == where and seat.is_alive]
            try:
                seat = fit.pop() if fit else Seat(where)
            except OSError as error:
                raise WorkersLost(f"no process can be started: {error}") from error
            finally:
                self._idle = fit
            self._busy.add(seat)
        for other in left:
            if other is not seat and other not in fit:
                other.end()
        return seat

    def _leave(self, seat: Seat, is_well: bool) -> None:
        with self._lock:
            self._busy.discard(seat)
            if is_well and not self._is_closed:
                self._idle.append(seat)
                return
        seat.end()


class _Course:
    """A part on its way: what it has come to, which logs are suspects and which are given up."""

    def __init__(self, part: Part) -> None:
        self.found: list[Rejudged] = []
        self._part = part
        self._measure = Measure(part)
        self._deaths: Counter[str] = Counter()
        self._given_up: dict[str, str] = {}
        self._idle_deaths = 0

    def left(self) -> Part | None:
        """Give what is to be judged next, a suspect alone; None where what is done is enough."""
        subjects = self._part.subjects
        while len(self.found) < len(subjects) and subjects[len(self.found)] in self._given_up:
            subject = subjects[len(self.found)]
            self.found.append(set_aside(subject, self._given_up[subject]))
        at = len(self.found)
        if at == len(subjects) or (at and self._measure.is_enough):
            return None
        suspects = (i for i in range(at, len(subjects)) if self._is_suspect(subjects[i]))
        first = next(suspects, len(subjects))
        return self._part.between(at, at + 1 if first == at else first)

    def add(self, one: Rejudged) -> None:
        """Take what one log came to."""
        self._idle_deaths = 0
        self.found.append(self._measure.add(one))

    def blame(self, at: list[str]) -> None:
        """Take the death of a process that was at these logs; raise WorkersLost where at none."""
        log.warning("a process died while it judged", at=at)
        if not at:
            self._idle_deaths += 1
            if self._idle_deaths == _IDLE_DEATHS:
                raise WorkersLost("processes die before they judge; the log tells of their end")
        self._deaths.update(at)
        for subject in at:
            if self._deaths[subject] >= _TRIES and len(at) == 1:
                self._give_up(subject, _KILLED)

    def give_up(self, late: Late) -> None:
        """Set aside what takes too long."""
        self._give_up(late.subject, f"it was not judged within {late.seconds:g} seconds")

    def _give_up(self, subject: str, why: str) -> None:
        log.warning("set aside", subject=subject, why=why)
        self._given_up[subject] = why

    def _is_suspect(self, subject: str) -> bool:
        return subject in self._deaths or subject in self._given_up
