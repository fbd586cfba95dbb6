"""At which level a line was logged, as the head before its message tells.

Loggers agree on the words and on nothing else: `WARNING:root:`, `| INFO |`, `level=warning`,
`W1019 12:11:02`, `[I socket.cpp:881]`. The level nearest to the message counts, since collectors
put their own in front. `NCCL WARN` is the loudest that NCCL has, so it is an error.
"""

import re
from typing import Literal

Level = Literal["error", "warning", "info", "debug"]

_HEAD = 240  # characters; a level stands near the start of a line or of its message

_UPPER = (
    r"(?<![\w/.-])(?P<upper>TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE|PANIC)"
    r"(?=[\]\s|:>),]|\Z)"
)
_MARKED = (
    r"[\[<(](?P<marked>trace|debug|info|notice|warn|warning|error|critical|fatal)[\]>)]"
    r"|\b(?:level|severity|levelname|lvl)[\"']?\s?[:=]\s?[\"']?(?P<field>[A-Za-z]+)"
    r"|(?:\A|(?<![A-Za-z])\s|[:\]])(?P<said>[Ww]arning|[Ee]rror|[Ff]atal): "
    r"|\b(?P<python>[A-Z]\w*Warning): "
)
# W1019 12:11:02.123456   [I socket.cpp:881]   [rank0]:[E1019 12:11:02 ProcessGroupNCCL.cpp:629]
_GLOG = r"(?:\A|[\s\[:])(?P<glog>[EFIWD])(?:\d{4} (?=\d\d:\d\d)| (?=[\w./]+\.(?:cpp|cc|h|py):\d))"
_LEVEL = re.compile(rf"NCCL (?P<nccl>WARN|INFO|TRACE|ABORT)|{_UPPER}|{_MARKED}|{_GLOG}")

_LETTERS: dict[str, Level] = {
    "e": "error",
    "f": "error",
    "c": "error",
    "s": "error",
    "p": "error",
    "w": "warning",
    "i": "info",
    "n": "info",
    "d": "debug",
    "t": "debug",
}


def level_at(head: str) -> Level | None:
    """Read the level from what stands before a message; None where the head tells none."""
    level: Level | None = None
    for found in _LEVEL.finditer(head[:_HEAD]):
        if found["nccl"]:
            level = "info" if found["nccl"] in ("INFO", "TRACE") else "error"
        elif found["python"]:
            level = "warning"
        else:
            word = next(word for word in found.groups() if word)
            level = _LETTERS.get(word[0].lower(), level)
    return level
