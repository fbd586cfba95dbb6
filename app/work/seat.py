"""One process that judges logs again, as the process sees it that has it judge.

It is started as a program and not by `multiprocessing`, which gives the workers of a Dask cluster
no children. It ends when the other end of its pipe is closed, by whatever end of its starter.
"""

import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import Pipe

from app.store.outcome import Fault
from app.work.judged import Now, Rejudged, Said, Through
from app.work.surroundings import Part, Surroundings

PROGRAM = "app.work.judging"
# Python would look for it in the present folder first, where another `app` may lie.
_START = """
import runpy, sys
_, program, pipe, *sys.path = sys.argv
sys.argv = [program, pipe]
runpy.run_module(program, run_name="__main__", alter_sys=True)
"""
_GLANCE_SECONDS = 0.5
_END_SECONDS = 1.0


class Stopped(Exception):
    """Nobody waits for what is judged any more."""


class Died(Exception):
    """The process is gone."""


class Late(Exception):
    """The process takes longer for a log than that is given."""

    def __init__(self, subject: str, seconds: float) -> None:
        super().__init__(subject)
        self.subject = subject
        self.seconds = seconds


class Broken(Exception):
    """The process cannot judge any log: of the rules, the prompts, the database."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


class Seat:
    """A process, and what it is at; serves one caller at a time, `kill` may come from others."""

    def __init__(self, where: Surroundings) -> None:
        """Start it; raise OSError."""
        self.where = where
        self._given: dict[str, tuple[float, float]] = {}  # of logs under way: until when, seconds
        self._pipe, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, PROGRAM, str(theirs.fileno()), *sys.path],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the starter, with which it ends
            )
        with suppress(OSError):  # a death is noticed at the first part
            self._pipe.send(where)

    @property
    def at(self) -> list[str]:
        """The logs that it is at, or was at when it died."""
        return list(self._given)

    @property
    def is_alive(self) -> bool:
        """Whether it can be given a part."""
        return self._process.poll() is None

    def judged(self, part: Part, is_stopped: Callable[[], bool]) -> Iterator[Rejudged]:
        """Have a part judged, or as much as is enough; give each log once it is, in order.

        Raises Died, Late, Broken and Stopped.
        """
        self._given.clear()
        try:
            self._pipe.send(part)
            while not isinstance(said := self._said(is_stopped), Through):
                if isinstance(said, Now):
                    seconds = math.inf if said.seconds is None else said.seconds
                    self._given[said.subject] = time.monotonic() + seconds, seconds
                else:
                    self._given.pop(said.subject, None)
                    yield said
        except (EOFError, OSError) as error:
            raise Died from error
        if said.fault is not None:
            raise Broken(said.fault)

    def kill(self) -> None:
        """End the process at once; who waits for it sees it die."""
        self._process.kill()

    def end(self) -> None:
        """Kill it and let go of the pipe; not waiting where it hangs in a dead file system."""
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self._pipe.close()

    def _said(self, is_stopped: Callable[[], bool]) -> Said:
        while True:
            if is_stopped():
                raise Stopped
            if self._pipe.poll(_GLANCE_SECONDS):
                said: Said = self._pipe.recv()
                return said
            now = time.monotonic()
            for subject, (until, seconds) in self._given.items():
                if now >= until:
                    raise Late(subject, seconds)
