"""Runs that go well in all their ways, and runs whose loss is lost, made at random."""

import math
import random

import pytest

from app.detect.health import health
from app.model import Ending
from tests.detect.training_runs import run

_KINDS = ("plain", "stage", "batch", "resume", "drop", "outliers", "epochs", "swinging", "coarse")


def _healthy(seed):
    """Losses and norms of a run in which nothing is wrong, and what happens to it."""
    rng = random.Random(seed)
    kind = _KINDS[seed % len(_KINDS)]
    count = rng.choice([40, 120, 400])
    low, noise, tau = rng.uniform(0.05, 4), rng.choice([0.003, 0.02, 0.1]), rng.uniform(0.05, 0.4)
    top, at = low * rng.uniform(1.2, 5), rng.randrange(count // 4, 3 * count // 4)
    values = [low + (top - low) * math.exp(-i / (tau * count)) for i in range(count)]
    change = {
        "stage": lambda i: 1.45 if i > at else 1,
        "resume": lambda i: 1 + 0.5 * math.exp((at - i) / (0.04 * count)) if i >= at else 1,
        "drop": lambda i: 0.93 if i > at else 1,
        "outliers": lambda i: rng.uniform(1.3, 3.5) if rng.random() < 0.02 else 1,
        "epochs": lambda i: 1 - 0.1 * int(4 * i / count) + 0.08 * (4 * i / count % 1),
        "swinging": lambda i: 1 + 0.6 * math.sin(40 * i / count),
    }.get(kind, lambda i: 1)
    rough = [noise * (2.2 if kind == "batch" and i > at else 1) for i in range(count)]
    values = [v * change(i) * (1 + rng.gauss(0, rough[i])) for i, v in enumerate(values)]
    if kind == "coarse":
        values = [max(0.125, round(v * 8) / 8) for v in values]
    norms = [math.exp(rng.gauss(0, 0.2)) for _ in values] if rng.random() < 0.5 else None
    return values, norms


def _told(values, norms):
    found, _ = health(run(values, norms, seconds=30.0), [], Ending())
    return [finding.cause for finding in found]


@pytest.mark.parametrize("seed", range(90))
def test_a_run_that_goes_well_is_given_no_illness(seed):
    assert _told(*_healthy(seed)) == []


@pytest.mark.parametrize("seed", range(0, 90, 3))
def test_no_scale_of_the_loss_makes_a_healthy_run_ill(seed):
    values, norms = _healthy(seed)
    assert _told([100 * value for value in values], norms) == []


@pytest.mark.parametrize("seed", range(0, 90, len(_KINDS)))
def test_a_loss_that_jumps_up_and_stays_is_a_spike_in_any_run(seed):
    values, _ = _healthy(seed)
    at = 2 * len(values) // 3
    level = values[at - 1] * 3
    jumped = values[:at] + [level * (1 + 0.02 * (i % 3)) for i in range(len(values) - at)]
    assert _told(jumped, None) == ["LossSpike"]


@pytest.mark.parametrize("seed", range(0, 90, 5))
def test_a_loss_that_is_no_number_from_somewhere_on_is_not_finite_in_any_run(seed):
    values, norms = _healthy(seed)
    at = len(values) // 2
    assert _told(values[:at] + [math.nan] * (len(values) - at), norms) == ["NonFiniteLoss"]
    one = [*values[:at], math.nan, *values[at + 1 :]]
    assert _told(one, norms) == []
