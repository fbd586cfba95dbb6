"""A reader for tests, in a module of its own that a worker process imports quickly."""

import os
import signal
import time
from pathlib import Path

from app.errors import UsageError
from app.store.outcome import Outcome
from app.work.worker import Rules


class Obedient:
    """A reader that does what the name of the job says."""

    rules = Rules("sha256:fake")

    def __init__(self, rules: Path, learned: Path, cache: Path) -> None:
        if (rules / "broken").exists():
            raise UsageError("causes/KeyError.yaml:3: a fault")

    def read(self, order, progress):
        word, _, rest = (order.job.name or "").partition(" ")
        progress(0.5)
        if word == "sleep":
            time.sleep(float(rest))
        elif word == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "break":
            raise ZeroDivisionError("a bug")
        log = Path(order.paths[0]).read_text()
        return Outcome(f'{{"log": "{log}"}}', "digest", "KeyError", "script", "high", "none", "")
