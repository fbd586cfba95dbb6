"""A reader that does what the log tells it.

Lines: `sleep 0.5` · `warn TEXT` · `cause KeyError` · `cordon HOST` · `die` ·
`die unless PATH` (and makes PATH) · `refuse` · `break`. Anything else is passed over.
"""

import gzip
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import structlog
from backports import zstd

from app.errors import SourceError
from app.located import Suspect
from app.model import (
    AttemptVerdict,
    Diagnosis,
    Evidence,
    ExplainedCause,
    LogStats,
    Plan,
    Primary,
    Root,
    Seen,
    Verdict,
)
from app.store.outcome import Outcome
from app.work.outcomes import outcome_of
from app.work.worker import Order, Rules


class FakeReader:
    """Obeys the log."""

    def __init__(self, rules: Path, learned: Path, cache: Path) -> None:
        self.rules = Rules("sha256:fake")

    def read(self, order: Order, progress: Callable[[float], None]) -> Outcome:
        """Do what each line says, then answer."""
        lines = [line for path in order.paths for line in text(Path(path)).splitlines()]
        cause, cordoned = "Unknown", ""
        for number, line in enumerate(lines[:1000]):
            progress(number / len(lines))
            word, _, rest = line.partition(" ")
            if word == "cause":
                cause = rest
            elif word == "cordon":
                cordoned = rest
            else:
                obey(word, rest)
        return outcome(order, cause, len(lines), cordoned)


def text(path: Path) -> str:
    data = path.read_bytes()
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    elif data.startswith(b"\x28\xb5\x2f\xfd"):
        data = zstd.decompress(data)
    return data.decode("utf-8", "replace")


def obey(word: str, rest: str) -> None:
    if word == "sleep":
        time.sleep(float(rest))
    elif word == "die" and not (rest and Path(rest.removeprefix("unless ")).exists()):
        if rest:
            Path(rest.removeprefix("unless ")).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    elif word == "warn":
        structlog.get_logger().warning(rest)
    elif word == "refuse":
        raise SourceError("the fake refuses this log")
    elif word == "break":
        raise ZeroDivisionError("the fake has a bug")


def outcome(order: Order, cause: str, lines: int, cordoned: str = "") -> Outcome:
    verdict = Verdict(
        Primary(
            cause, "script", "a_signal", "proof", "high", "fp", "what happened", Seen("log", 1)
        ),
        explained=(ExplainedCause("NCCLTimeoutError", cause, "always", 3, 9, "log"),),
        other_roots=(Root("KeyError", "key_error", "clue", 1, "log", 7),),
        evidence=(Evidence("log", 1, "a line with \udc80 and \0", "shows it"),),
        suspects=(Suspect(host="node-1", why="first to fail"),),
    )
    diagnosis = Diagnosis(
        verdict,
        Plan("fix_code", False, targets=(cordoned,) if cordoned else (), steps=("read it",)),
        (AttemptVerdict(1, "log", (1, 3), "Preempted"),),
        LogStats(10, lines, 1, 1, 0.5, 0.1),
        order.job,
        "the digest",
        "sha256:fake",
    )
    return outcome_of(diagnosis, order.id)
