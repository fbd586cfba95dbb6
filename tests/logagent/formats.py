"""Logs of three made-up trainers, whose lines no shipped filter knows, and what a model may say.

Each log has a start, routine lines in several kinds, and a failure at its end. `wanted` are the
numbers of the lines that a person would point at.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

Step = Callable[[int, random.Random], Sequence[str]]


@dataclass(frozen=True)
class Format:
    """One trainer: how it starts, steps and fails, and filters that fit its lines."""

    name: str
    cause: str
    start: tuple[str, ...]
    step: Step
    failure: tuple[str, ...]
    wanted: int  # so many lines of the failure, from its first on
    filters: tuple[tuple[str, str, str, float], ...]  # name, regex, one line, its share


@dataclass(frozen=True)
class Written:
    """A log on disk."""

    path: Path
    wanted: tuple[int, ...]


def _orbit(step: int, chance: random.Random) -> Sequence[str]:
    at = f"2026.11.30/{step // 3600 % 24:02}:{step // 60 % 60:02}:{step % 60:02}"
    pod = f"pod-{chance.randrange(64):02}/lane-{chance.randrange(8)}"
    return (
        f"<> {at} {pod} > orbit {step:06} entropy={2 + chance.random():.4f} "
        f"drift={chance.random() / 100:.5f} pace={80 + 3 * chance.random():.1f}k/s",
        f"<> {at} {pod} > fuel gauge {chance.randrange(60, 79)}.{chance.randrange(10)} of 80.0 "
        f"spent over {chance.randrange(90, 99)} burns",
    )


def _loom(step: int, chance: random.Random) -> Sequence[str]:
    head = f"LOOM|{chance.getrandbits(16):04x}|w{chance.randrange(512):03}"
    return (
        f"{head}|it:{step}|xent:{2 + chance.random():.4f}|gn:{chance.random():.3f}"
        f"|ms:{chance.randrange(380, 440)}|warp:{chance.randrange(60, 70)}.{chance.randrange(9)}G",
        f"{head}|bobbin:{chance.randrange(9999):04}|read:{80 + chance.random():.1f}M|lag:3ms",
        f"{head}|shuttle pass {step % 97} of 96 woven in {chance.randrange(9, 30)} ms",
    )


def _furrow(step: int, chance: random.Random) -> Sequence[str]:
    return (
        f"(furrow) begin row {step} of 90000",
        f"(furrow)   seed price ....... {2 + chance.random():.4f} nats",
        f"(furrow)   soil norm ........ {chance.random():.4f}",
        f"(furrow)   plough time ...... {380 + 60 * chance.random():.1f} ms",
        f"(furrow) row {step} turned",
    )


FORMATS = (
    Format(
        name="orbit",
        cause="CUDAError",
        start=tuple(f"<> orbit engine part {n}: ready" for n in range(12)),
        step=_orbit,
        failure=(
            "[rank3]: Traceback (most recent call last):",
            '[rank3]:   File "/work/orbit/engine.py", line 211, in burn',
            "[rank3]:     thrust = self.plan(state)",
            "[rank3]: RuntimeError: CUDA error: an illegal memory access was encountered",
        ),
        wanted=4,
        filters=(
            (
                "orbit_ticks",
                r"> orbit \d+ entropy=",
                "pod-03/lane-5 > orbit 000017 entropy=2.1",
                0.5,
            ),
            (
                "orbit_fuel",
                r"> fuel gauge [\d.]+ of",
                "pod-03/lane-5 > fuel gauge 61.3 of 80.0",
                0.5,
            ),
        ),
    ),
    Format(
        name="loom",
        cause="NodeFailure",
        start=tuple(f"LOOM|0000|w000|thread {n} strung" for n in range(12)),
        step=_loom,
        failure=(
            "[Mon Nov 30 10:40:02 2026] NVRM: Xid (PCI:0000:3b:00): 79, pid=40321, name=python, "
            "GPU has fallen off the bus.",
        ),
        wanted=1,
        filters=(
            ("loom_steps", r"\|it:\d+\|xent:", "LOOM|7f3a|w007|it:4711|xent:2.3141|gn:0.8", 0.34),
            ("loom_bobbins", r"\|bobbin:\d+\|read:", "LOOM|7f3a|w007|bobbin:0221|read:88.1M", 0.34),
            (
                "loom_shuttle",
                r"\|shuttle pass \d+ of \d+ woven",
                "|shuttle pass 3 of 96 woven in",
                0.34,
            ),
        ),
    ),
    Format(
        name="furrow",
        cause="HostOutOfMemory",
        start=tuple(f"(furrow) field {n} fenced" for n in range(12)),
        step=_furrow,
        failure=(
            "[Mon Nov 30 10:40:02 2026] Out of memory: Killed process 40321 (python) "
            "total-vm:912345678kB, anon-rss:498765432kB, file-rss:0kB, shmem-rss:0kB",
        ),
        wanted=1,
        filters=(
            (
                "furrow_begins",
                r"\(furrow\) begin row \d+ of",
                "(furrow) begin row 17 of 90000",
                0.2,
            ),
            (
                "furrow_price",
                r"\(furrow\)   seed price \.+",
                "(furrow)   seed price ....... 2.1",
                0.2,
            ),
            (
                "furrow_norm",
                r"\(furrow\)   soil norm \.+",
                "(furrow)   soil norm ........ 0.88",
                0.2,
            ),
            (
                "furrow_time",
                r"\(furrow\)   plough time \.+",
                "(furrow)   plough time ...... 4",
                0.2,
            ),
            ("furrow_done", r"\(furrow\) row \d+ turned", "(furrow) row 17 turned", 0.2),
        ),
    ),
)


def write(form: Format, path: Path, size: int, seed: int = 7) -> Written:
    """Write a log of about so many bytes."""
    chance = random.Random(seed)
    number = 0
    with path.open("w") as file:
        for line in form.start:
            file.write(line + "\n")
            number += 1
        for lines in _steps(form, chance, size):
            file.writelines(line + "\n" for line in lines)
            number += len(lines)
        file.writelines(line + "\n" for line in form.failure)
    return Written(path, tuple(range(number + 1, number + 1 + form.wanted)))


def _steps(form: Format, chance: random.Random, size: int) -> Iterator[Sequence[str]]:
    left, step = size, 0
    while left > 0:
        step += 1
        lines = form.step(step, chance)
        left -= sum(map(len, lines))
        yield lines


def reply(form: Format, *poison: dict[str, object]) -> dict[str, object]:
    """Say what a good model says of a format, and what is to be thrown away beside it."""
    good = [
        {
            "name": name,
            "title": f"Routine lines of {form.name}",
            "why": "Printed at every step; the values come back in the next one.",
            "match": match,
            "hits": [line],
            "misses": [f"{form.name} engine fault 17"],
            "claimed_share": share,
        }
        for name, match, line, share in form.filters
    ]
    return {"filters": [*poison, *good]}
