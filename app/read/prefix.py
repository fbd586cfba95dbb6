"""Read what stands before the message of a log line: who printed it, and when.

Launchers, collectors and loggers each put their own label in front, in any order, so a line is
read part by part until something is no part. What says more than who and when (a level, a source
file, a NCCL head) ends the prefix and stays in the message, yet its time and rank still count.

A wrong rank is worse than none. The label nearest to the message wins. `[default3]:` is a rank
within its node, so it names the stream and never the rank. Labels that ordinary text may imitate
(`3: `, `worker-2: `) are taken by evidence, which is gathered over the file.
"""

import re
from collections.abc import Callable
from string import ascii_letters, digits

from app.model import Prefix
from app.read import forms, told
from app.read.clock import Clock
from app.read.found import NOTHING, Found
from app.read.labels import SPEAKS, Hosts, Tasks
from app.read.spelled_times import DAY_NAMES

_MOST_PARTS = 8
_STAMP_STARTS = frozenset("[(" + digits)
# what torchrun's --role is set to
_ROLES = frozenset(["default", "trainer", "worker", "role", "main", "train", "actor", "rollout"])

_UPPER = ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "CRITICAL", "FATAL"]
_LEVELS = frozenset(_UPPER) | {level.lower() for level in _UPPER}
# ERRO[2026-04-18T20:26:37Z] socket disconnected   as programs in Go write it
_LOGRUS = frozenset(["TRAC", "DEBU", "INFO", "WARN", "ERRO", "FATA", "PANI"])
_LEVEL_TAGS = tuple(f"[{level}]" for level in ["INFO", "WARNING", "ERROR", "DEBUG"])


class PrefixReader:
    """Reads the prefixes of one file's lines in order.

    It remembers what one line cannot tell: the year and date that a shorter clock leaves out, the
    machines of the job, and whether numbers before a text are labels.
    """

    def __init__(self, default_year: int | None = None, near: float | None = None) -> None:
        """Start a file; `near` or the year serve clocks that have none until a stamp names one."""
        self._clock = Clock(default_year, near)
        self._tasks = Tasks()
        self._hosts = Hosts()
        self._found = Found()
        self._line = 0
        self._steps: dict[str, Callable[[str, int, Found], int]] = {
            **dict.fromkeys(ascii_letters, self._word),
            **dict.fromkeys(digits, self._digit),
            "[": self._bracket,
            "(": self._parenthesis,
            "{": self._record,
            ":": self._record,
            "<": self._angle,
            " ": self._blank,
        }

    def read(self, raw: str) -> Prefix:
        """Say who printed a line and when; the line has no line end and no colours."""
        self._line += 1
        step = self._steps.get(raw[:1])
        if step is None:
            return NOTHING
        found = self._found
        found.clear()
        at = 0
        for _ in range(_MOST_PARTS):
            after = step(raw, at, found)
            if after == at or found.held >= 0:
                break
            at = after
            step = self._steps.get(raw[at : at + 1])
            if step is None:
                break
        return found.prefix(raw, at if found.held < 0 else found.held, self._tasks)

    # A step reads the part that begins at `at` and returns where the next begins, or `at` if the
    # message begins there. It sets `held` where the message begins at a part that is kept.

    def _bracket(self, raw: str, at: int, found: Found) -> int:
        second = raw[at + 1 : at + 2]
        if second.isdecimal() or second == " ":
            return self._stamp(raw, at, found) or self._numbered(raw, at, found)
        if found.time is not None and raw.startswith(_LEVEL_TAGS, at):
            found.held = at
            return at
        if (second == "r" or second == "R") and (rank := forms.RANK.match(raw, at)):
            return self._rank(raw, at, rank, found)
        if raw[at + 2 : at + 3].isdecimal() and (after := self._glog(raw, at, found)):
            return after
        tag = forms.TAG.match(raw, at)
        if tag:
            return self._tag(raw, at, tag, found)
        process = forms.HOST_PID.match(raw, at)
        if process and (process[2] or self._hosts.tagged(process[1])):
            found.host = process[1]
            return process.end() + raw.startswith(" ", process.end())
        if labelled := forms.HOST_RANK.match(raw, at):
            found.host = labelled[1]
            return labelled.end()
        clock = told.clock_in_bracket(raw, at)
        if clock and self._time(raw, clock, found):
            found.held = at
            return at
        return self._stamp(raw, at, found) or at

    def _tag(self, raw: str, at: int, tag: re.Match[str], found: Found) -> int:
        name, end = tag[1], tag.end()
        if name in _LEVELS:
            found.held = at
            end += raw.startswith(" ", end)
            if (
                raw[end : end + 1].isdecimal()
                and self._time(raw, end, found)
                and found.rank is None
            ):
                found.rank = told.rank_of_ascend(raw, end)
            return end
        if name.startswith("pod/"):
            found.host = name.split("/")[1]
            return end + raw.startswith(" ", end)
        local = forms.LOCAL.match(name)
        if tag[2] and local and local[1] in _ROLES:
            found.local = f"{found.local} {local[1]} {local[2]}".lstrip()
            return _indented(raw, end)
        end += raw.startswith(" ", end)
        if self._hosts.tagged(name):
            found.host = name
            return end
        after = self._stamp(raw, end, found) if raw[end : end + 1] in _STAMP_STARTS else 0
        if after and local and " " in name:
            found.local = name
        return after or at

    def _numbered(self, raw: str, at: int, found: Found) -> int:
        met = forms.NUMBERED.match(raw, at)
        if met is None:
            met = forms.MPI_RANK.match(raw, at)
            if met is None:
                return at
            found.host = met[2]
            found.rank = int(met[1])
            return met.end()
        end = met.end()
        if met[2]:
            end = _indented(raw, end)
        else:
            end += raw.startswith(" ", end)
            if not SPEAKS.match(raw, end) and not forms.TIME_OF_DAY.match(raw, end):
                return at
        found.rank = int(met[1])
        return end

    def _digit(self, raw: str, at: int, found: Found) -> int:
        after = self._stamp(raw, at, found)
        if after:
            return after
        address = forms.ADDRESS.match(raw, at)
        if address:
            found.host = address[1]
            return address.end()
        return self._task(raw, at, found)

    def _task(self, raw: str, at: int, found: Found) -> int:
        met = forms.TASK.match(raw, at)
        if met is None or found.task is not None or found.rank is not None:
            return at
        number = int(met[1])
        if not self._tasks.trust(number, raw, met.end(), self._line):
            return at
        found.task = number
        return met.end()

    def _blank(self, raw: str, at: int, found: Found) -> int:
        if at:
            return at
        if (sel := forms.SEL.match(raw)) and self._time(raw, sel.end(), found):
            found.held = at
            return at
        if not forms.PADDED.match(raw):
            return at
        if raw[1] == "[":
            return self._stamp(raw, 1, found)
        return self._task(raw, 0, found)

    def _parenthesis(self, raw: str, at: int, found: Found) -> int:
        met = forms.ACTOR.match(raw, at)
        if met is None:
            host = forms.IN_ROUND.match(raw, at)
            if host is None or not self._hosts.prints(host[1], raw, host.end()):
                return at
            found.host = host[1]
            return host.end()
        found.actor = met[1]
        found.host = met[2] or found.host
        return met.end()

    def _angle(self, raw: str, at: int, found: Found) -> int:
        met = forms.ANGLE.match(raw, at)
        if met and self._time(raw, met.end(), found):
            found.held = at
            return met.end()
        return at

    def _record(self, raw: str, at: int, found: Found) -> int:
        record = told.record(raw, at)
        if record:
            found.held = at
            found.host = record.host or found.host
            if record.rank is not None:
                found.rank = record.rank
            if record.time is None:
                self._time(raw, record.stamp, found)
            else:
                found.time = self._clock.seen(record.time)
        return at

    def _word(self, raw: str, at: int, found: Found) -> int:
        word = raw[at : at + 64].partition(" ")[0]
        end = at + len(word)
        last = word[-1]
        if word[1:2].isdecimal() and self._glog(raw, at, found):
            return at
        if word[:3] in DAY_NAMES and (after := self._stamp(raw, at, found)):
            return after
        if word in _LEVELS or (last == ":" and word[:-1] in _LEVELS):
            found.held = at
            if found.time is None and raw[end + 1 : end + 2] in _STAMP_STARTS:
                self._time(raw, end + 1, found)
            return at
        if word[4:5] == "[" and word[:4] in _LOGRUS:
            found.held = at
            self._time(raw, at + 5, found)
            return at
        if word == "DLL":
            return self._stamp(raw, end + 1, found) or at
        if word[0] in "sSECcTt" and (clock := told.clock_in_sentence(raw, at)):
            found.held = at
            self._time(raw, clock, found)
            return at
        if last.isdecimal() and ":" in word:
            return self._process(raw, at, found)
        if found.rank is not None or found.local or found.actor:
            return at
        if word in ("rank", "Rank") and (spoken := forms.SPOKEN_RANK.match(raw, at)):
            if not found.host and not SPEAKS.match(raw, spoken.end()):
                return at
            found.rank = int(spoken[1])
            return spoken.end()
        if at == 0 and "/" in word and self._hosts.replica(word, raw, end + 1):
            found.local = word
            return end + 1
        return self._host(raw, at, word, found)

    def _host(self, raw: str, at: int, word: str, found: Found) -> int:
        end = at + len(word)
        host = word
        if word[-1] == ":":
            host, text = word[:-1], min(end + 1, len(raw))
            text = text if self._hosts.prints(host, raw, text) else at
        elif word[:4] == "pod/" and (pod := forms.POD.match(raw, at)):
            host, text = pod[1], pod.end()
        elif word[-1].isdecimal():
            text = self._column(raw, end, word, at > 0)
            if text == end and at == 0 and self._hosts.speaks(word, raw, end + 1):
                text = min(end + 1, len(raw))
        else:
            return at
        if text > end:
            found.host = host
            return text
        return at

    def _process(self, raw: str, at: int, found: Found) -> int:
        met = forms.PROCESS.match(raw, at)
        if met:  # who printed it stays before the message of NCCL
            self._hosts.learn(met[1])
            found.host, found.process, found.held = met[1], f"{met[1]}:{met[2]}", at
        return at

    def _column(self, raw: str, end: int, name: str, stamped: bool) -> int:
        """Return where the text begins behind a name that stands in a column of its own."""
        column = forms.COLUMN.match(raw, end)
        if column:
            return column.end() if self._hosts.column(name) else end
        # 2018-11-07T23:58:50Z  ps-0            E1107 23:58:50 server closed
        if stamped and raw.startswith("  ", end) and self._hosts.tagged(name):
            return end + 1
        return self._hosts.pod(name, raw, end)

    def _rank(self, raw: str, at: int, met: re.Match[str], found: Found) -> int:
        found.rank = int(met[2])
        if met[1] == "Rank" and not met[3]:  # torch says so in the midst of its messages: it stays
            found.held = at
        return _indented(raw, met.end())

    def _stamp(self, raw: str, at: int, found: Found) -> int:
        stamp = self._clock.read(raw, at)
        if stamp is None:
            return 0
        if found.time is None:
            found.time = stamp.time
        if not stamp.closed:
            found.held = at
        elif stamp.host_next:
            host = forms.SYSLOG_HOST.match(raw, stamp.end)
            if host is None and raw[at].isalpha():
                host = forms.SYSLOG_NODE.match(raw, stamp.end)
            if host:
                found.host = host[1]
                return host.end()
        elif raw.startswith("[1", at) and raw.startswith("[", stamp.end):
            host = forms.UCX_HOST.match(raw, stamp.end)
            found.host = host[1] if host else found.host
        return stamp.end

    def _time(self, raw: str, at: int, found: Found) -> bool:
        stamp = self._clock.read(raw, at)
        if stamp is not None and found.time is None:
            found.time = stamp.time
        return stamp is not None

    def _glog(self, raw: str, at: int, found: Found) -> int:
        stamp = self._clock.glog(raw, at)
        if stamp is None:
            return 0
        if found.time is None:
            found.time = stamp.time
        found.held = at
        return stamp.end


def _indented(raw: str, at: int) -> int:
    """Skip the blank that some put behind a label and others do not; Python indents by twos."""
    head = raw[at : at + 64]
    return at + (len(head) - len(head.lstrip(" "))) % 2
