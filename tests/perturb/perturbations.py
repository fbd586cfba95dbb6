"""What may happen to a log without changing why the job failed.

Each is a function from lines to lines with a seeded source of chance. `takes` tells what a log
loses by it, so that a story whose answer rests on just that is left out.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from random import Random

from app.model import Prefix
from app.read.prefix import PrefixReader
from app.story import Ground

Lines = list[str]


@dataclass(frozen=True)
class Material:
    """Lines to put in: facts that are no cause, harmless ones, and whole runs that finished.

    `notices` are facts that count within a window before a failure, and nowhere else.
    """

    context: Sequence[str]
    notices: Sequence[str]
    harmless: Sequence[str]
    finished: Sequence[Lines]


@dataclass(frozen=True)
class Perturbation:
    """One change, by name; where chance has a say it is tried several times for each story."""

    name: str
    change: Callable[[Lines, Random, Material], Lines]
    turns: int = 1
    takes: frozenset[Ground] = frozenset()


_DATE = r"\d{4}[-/]\d\d[-/]\d\d[T -]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) "
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d"
_STAMP = re.compile(
    rf"\[ ?{_DATE}\] ?|{_DATE}:? ?(?:[|-] )?|\[{_DAY}{_MONTH} \d{{4}}\] ?|{_MONTH} "
    r"|\[ *\d{1,10}\.\d{1,9}\] ?|(?<=[IWEF])\d{3,4} \d\d:\d\d:\d\d\.\d{1,9}"
)
_FULL = re.compile(
    r"\b(20\d\d-\d\d-\d\d)([T ])(\d\d:\d\d:\d\d)|(?<=[IWEF])(\d{3,4} \d\d:\d\d:\d\d)(?=\.\d)"
)
_HEADS = (
    "[pod/llm-pretrain-worker-0/trainer] ",
    "flow-4412-train-main: ",
    "f0a1b2c3 || ",
    "[trainer0|0]:",
    "job 8814] (stderr) ",
    "(task, pid=8812) ",
    "agent-17 -> ",
)
_YEAR = 2026  # in which the stories play
_HEAD = 60  # a stamp further right belongs to the message
_RANK = re.compile(
    r"\[(?:[Rr]ank|RANK)[ :]? ?\d+\]:? ?|\[default\d+\]: ?|\[1,\d+\]<std(?:out|err)>: ?"
    r"|^ {0,3}\d{1,4}: "
)
_KERNEL = re.compile(r"\bkernel: |\bNVRM: |^\[ *\d{1,9}\.\d{3,9}\] |^\[" + _DAY)
_LEVEL = re.compile(r"\b(?:INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b")
_CONTEXT_LINES, _HARMLESS_LINES, _NOTICES = 10, 25, 3
_BARS = 12
_NOISE = (
    "INFO dataloader: {} batches are waiting",
    "INFO mem: {} MiB allocated, {} MiB reserved",
    "DEBUG bucket {} of {} reduced",
    "tokenized {} documents",
)


def _without_stamps(lines: Lines, chance: Random, material: Material) -> Lines:
    return [_STAMP.sub("", line[:_HEAD]) + line[_HEAD:] for line in lines]


def _without_ranks(lines: Lines, chance: Random, material: Material) -> Lines:
    return [_RANK.sub("", line[:_HEAD]) + line[_HEAD:] for line in lines]


def _behind_a_finished_run(lines: Lines, chance: Random, material: Material) -> Lines:
    """A run that ended three hours earlier wrote into the same file.

    Where no clock tells that, a shell that traces its commands does: without either, nobody can
    tell another run from what a job does after its end.
    """
    before = _ended(chance.choice(material.finished))
    ended, began = _last_clock(before), next(iter(_clocks(lines)), None)
    if ended is not None and began is not None:
        earlier = timedelta(seconds=began - ended, hours=-3)
        moved = [_FULL.sub(lambda told: _moved(told, earlier), line) for line in before]
        if max(_clocks(moved)) < began:
            return [*moved, *lines]
    return [*_without_stamps(before, chance, material), "+ torchrun train.py", *lines]


def _clocks(lines: Iterable[str]) -> list[float]:
    reader = PrefixReader(_YEAR)
    times = (reader.read(line).time for line in lines)
    return [time for time in times if time is not None]


def _last_clock(lines: Iterable[str]) -> float | None:
    return max(_clocks(lines), default=None)


def _moved(told: re.Match[str], by: timedelta) -> str:
    """Move a clock; glog names month and day without a year."""
    if told[1]:
        moved = datetime.fromisoformat(f"{told[1]} {told[3]}") + by
        return f"{moved:%Y-%m-%d}{told[2]}{moved:%H:%M:%S}"
    moved = datetime.strptime(f"{_YEAR}{told[4]:0>13}", "%Y%m%d %H:%M:%S") + by
    return f"{moved:%m%d %H:%M:%S}"


def _with_context(lines: Lines, chance: Random, material: Material) -> Lines:
    return _put_in(lines, chance, chance.sample(material.context, _CONTEXT_LINES))


def _notices_last(lines: Lines, chance: Random, material: Material) -> Lines:
    told = chance.sample(material.notices, min(_NOTICES, len(material.notices)))
    return [*_ended(lines), *(_STAMP.sub("", line) for line in told)]


def _with_harmless(lines: Lines, chance: Random, material: Material) -> Lines:
    return _put_in(lines, chance, chance.sample(material.harmless, _HARMLESS_LINES))


def _put_in(lines: Lines, chance: Random, others: Sequence[str]) -> Lines:
    """Put lines anywhere, without their clocks, which belong to other days."""
    told = list(lines)
    for other in others:
        told.insert(chance.randint(0, len(told)), _STAMP.sub("", other))
    return told


def _shuffled(lines: Lines, chance: Random, material: Material) -> Lines:
    """Mix what was printed within one second; each printer keeps its own order."""
    reader = PrefixReader(_YEAR)
    prefixes = [reader.read(line) for line in lines]
    told: Lines = []
    at = 0
    for _, group in groupby(enumerate(_seconds(prefixes)), key=lambda item: item[1] or -item[0]):
        size = len(list(group))
        streams: dict[str, Lines] = {}
        for line, prefix in zip(lines[at : at + size], prefixes[at : at + size], strict=True):
            streams.setdefault(prefix.stream, []).append(line)
        turns = [stream for stream, own in streams.items() for _ in own]
        chance.shuffle(turns)
        told += [streams[stream].pop(0) for stream in turns]
        at += size
    return told


def _seconds(prefixes: Sequence[Prefix]) -> Iterator[int | None]:
    """The second of each line; a line without a clock shares one only if both sides have it."""
    known = [None if prefix.time is None else int(prefix.time) for prefix in prefixes]
    after: list[int | None] = []
    for second in reversed(known):
        after.append(second if second is not None else after[-1] if after else None)
    before: int | None = None
    for second, later in zip(known, reversed(after), strict=True):
        before = second if second is not None else before
        yield before if before == later else None


def _kernel_last(lines: Lines, chance: Random, material: Material) -> Lines:
    return sorted(lines, key=lambda line: bool(_KERNEL.search(line)))


def _with_windows_ends(lines: Lines, chance: Random, material: Material) -> Lines:
    return [line + "\r" for line in lines]


def _coloured(lines: Lines, chance: Random, material: Material) -> Lines:
    """Some loggers colour a whole line, some the level, some what stands before the message."""
    return [chance.choice((_all_red, _level_red, _head_green))(line) for line in lines]


def _all_red(line: str) -> str:
    return f"\033[31m{line}\033[0m"


def _level_red(line: str) -> str:
    return _LEVEL.sub(lambda level: f"\033[1;33m{level[0]}\033[0m", line)


def _head_green(line: str) -> str:
    head, blank, rest = line.partition(" ")
    return f"\033[32m{head}\033[39m{blank}{rest}" if head else line


def _bars_last(lines: Lines, chance: Random, material: Material) -> Lines:
    """A thread that downloads files draws its bar on, after all is over for the others."""
    bars = [_bar(count) for count in range(1, _BARS + 1)]
    return [*_ended(lines), *bars[: _BARS // 2], "\r".join(bars[_BARS // 2 :])]


def _ended(lines: Lines) -> Lines:
    return lines[:-1] if lines and not lines[-1] else lines


def _bar(count: int) -> str:
    share = count / _BARS
    drawn = "█" * int(10 * share)
    return (
        f"Fetching {_BARS} files: {share:4.0%}|{drawn:10}| {count}/{_BARS} "
        f"[00:{count:02}<00:{_BARS - count:02},  1.00it/s]"
    )


def _with_a_chatty_rank(lines: Lines, chance: Random, material: Material) -> Lines:
    told: Lines = []
    for line in lines:
        told.append(line)
        if chance.random() < 0.5:
            words = chance.choice(_NOISE).format(chance.randint(1, 99), chance.randint(100, 999))
            told.append(f"[rank93]: {words}")
    return told


def _collected(lines: Lines, chance: Random, material: Material) -> Lines:
    """A launcher or a shipper puts the same before each line."""
    head = chance.choice(_HEADS)
    return [head + line for line in _ended(lines)]


def _packed(lines: Lines, chance: Random, material: Material) -> Lines:
    """A shipper packs each line into a record."""
    key, end = chance.choice([("log", "\n"), ("textPayload", ""), ("message", "")])
    return [json.dumps({key: line + end, "stream": "stderr"}) for line in _ended(lines)]


PERTURBATIONS = (
    Perturbation("a finished run stands before it", _behind_a_finished_run, turns=2),
    Perturbation("ten lines of context are put in", _with_context, turns=2),
    Perturbation("notices of hardware follow it", _notices_last),
    Perturbation("25 harmless lines are put in", _with_harmless, turns=2),
    Perturbation("time stamps are removed", _without_stamps, takes=frozenset({"clock"})),
    Perturbation("rank prefixes are removed", _without_ranks, takes=frozenset({"ranks"})),
    Perturbation("ranks are shuffled within a second", _shuffled, takes=frozenset({"order"})),
    Perturbation("kernel lines are moved to the end", _kernel_last, takes=frozenset({"order"})),
    Perturbation("lines end with CRLF", _with_windows_ends),
    Perturbation("colours are added", _coloured),
    Perturbation("progress bars rise after it", _bars_last),
    Perturbation("a second rank chats in between", _with_a_chatty_rank),
    Perturbation("a collector puts its words before each line", _collected, turns=2),
    Perturbation("a shipper packs each line into a record", _packed),
)
