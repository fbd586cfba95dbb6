"""Read lines of a log as one file, and compare a point with what it should say."""

import math

import pytest

from app.compress.series import SeriesReader
from app.model import Point

# series, step, total steps, loss, grad norm, loss scale, seconds of a step
Wanted = tuple[str, int | None, int | None, float | None, float | None, float | None, float | None]

NAN, INF = math.nan, math.inf


def read(text: str) -> tuple[Point, ...]:
    reader = SeriesReader()
    for number, line in enumerate(text.split("\n"), 1):
        reader.feed(0, number, line, rank=None, time=None)
    return reader.points()


def agrees(point: Point, wanted: Wanted) -> bool:
    found = (point.loss, point.grad_norm, point.loss_scale, point.step_seconds)
    named = (point.series, point.step, point.total_steps)
    return named == wanted[:3] and all(map(_same, found, wanted[3:]))


def _same(value: float | None, wanted: float | None) -> bool:
    if value is None or wanted is None:
        return value is wanted
    return value == pytest.approx(wanted, nan_ok=True)
