"""A process that judges as ours does, but for logs that say what it is to do before.

`judge: kill`, `hang`, `raise`, `sleep 0.2`; with the path of a file, `kill` is done once: it makes
the file, and is not done where it is.
"""

import os
import re
import signal
import time
from pathlib import Path

from app.work import judging, reread

_ORDER = re.compile(r"judge: (?P<what>kill|hang|raise|sleep) ?(?P<more>\S*)")


def obeying(stage):
    """Have a stage of judging do what a log says before."""

    def judged(given, compiled, **more):
        found = _ORDER.search(_text(given))
        if found is not None:
            _obey(found["what"], found["more"])
        return stage(given, compiled, **more)

    return judged


def _text(given) -> str:
    if isinstance(given, list):  # of paths
        return "".join(path.read_text() for path in given)
    return "\n".join(line.text for line in given.lines)


def _obey(what: str, more: str) -> None:
    match what:
        case "kill":
            if more and Path(more).exists():
                return
            if more:
                Path(more).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        case "sleep":
            time.sleep(float(more))
        case "hang":
            time.sleep(3600)
        case "raise":
            raise ZeroDivisionError("of no use \0")


if __name__ == "__main__":
    reread.examine = obeying(reread.examine)
    reread.judged = obeying(reread.judged)
    judging.main()
