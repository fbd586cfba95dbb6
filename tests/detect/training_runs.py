"""Runs of a training job in numbers: losses that fall, with what happens to them."""

import math
import random
from dataclasses import replace

from app.detect.tracks import Track
from app.model import Line, Point

START = 1_780_000_000.0


def losses(count, low=2.0, top=8.0, noise=0.01, seed=1):
    """Losses of a healthy run."""
    rng = random.Random(seed)
    return [
        (low + (top - low) * math.exp(-5 * i / count)) * (1 + noise * rng.gauss(0, 1))
        for i in range(count)
    ]


def run(values, norms=None, *, series="step #", every=10, seconds=None, **fields):
    """One reading for each loss, every so many steps and so many seconds."""
    return [
        Point(
            file=fields.get("file", 0),
            number=fields.get("line", 1) + place,
            series=series,
            rank=fields.get("rank"),
            step=(place + 1) * every,
            total_steps=fields.get("total"),
            time=START + place * seconds if seconds else None,
            loss=value,
            grad_norm=norms[place] if norms else None,
        )
        for place, value in enumerate(values)
    ]


def track(values, norms=None, **fields):
    return Track(tuple(run(values, norms, **fields)))


def at(points, **changes):
    """The points, each changed in the same way."""
    return [replace(point, **changes) for point in points]


def line(number, text, *, time=None, file=0, rank=None):
    return Line(file=file, number=number, raw=text, text=text, time=time, rank=rank)


def beats(first, count, *, since, every, text="heartbeat ok rss=41.{}GB", **fields):
    """Lines that come again and again, alike but for their numbers."""
    return [
        line(first + i, text.format(i % 7), time=since + (i + 1) * every, **fields)
        for i in range(count)
    ]
