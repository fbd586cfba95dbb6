"""Numbers that broke, and the breaks that are normal."""

import math
from dataclasses import replace

import pytest

from app.detect.finite import broken, learns, spent_scale
from app.detect.tracks import Track
from tests.detect.training_runs import at, losses, run, track

NAN, INF = math.nan, math.inf
GOOD = losses(30)
NORMS = [0.5] * 30


def test_a_loss_that_is_nan_to_the_end_is_found_at_its_first_reading():
    found = broken(track(GOOD + [NAN] * 5))
    assert found is not None
    assert (found.onset.step, found.readings, found.what, found.lasts) == (310, 5, "loss", True)


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_one_broken_loss_amid_good_ones_is_normal(value):
    assert broken(track([*GOOD, value, *GOOD])) is None


def test_a_broken_loss_in_the_last_line_is_a_clue_only():
    found = broken(track([*GOOD, NAN]))
    assert found is not None
    assert not found.lasts


def test_a_loss_of_zero_beside_a_norm_that_is_nan_is_masked():
    found = broken(track(GOOD + [0.0] * 6, NORMS + [NAN] * 6))
    assert found is not None
    assert found.what == "gradient norm"


def test_a_loss_column_that_is_gone_is_found_though_nothing_is_nan():
    found = broken(track([*GOOD, *[None] * 6], [0.5] * 36))
    assert found is not None
    assert (found.what, found.readings) == ("loss column", 6)


def test_a_series_that_tells_its_loss_now_and_then_has_lost_no_column():
    sparse = [value for good in GOOD for value in (good, None, None)]
    assert broken(track([*sparse, *[None] * 8])) is None


def test_infinite_norms_are_how_mixed_precision_looks_for_its_scale():
    assert broken(track([10.0] * 12, [INF] * 12)) is None
    assert broken(track([10.0] * 25, [INF] * 25)) is not None


def test_infinite_norms_at_the_lowest_scale_do_not_end():
    searching = run([10.0] * 6, [INF] * 6)
    spent = [replace(point, loss_scale=1.0) for point in searching]
    assert broken(Track(tuple(spent))) is not None


def test_a_series_learns_if_it_is_finite_up_to_its_end():
    assert learns(track(GOOD))
    assert not learns(track([*GOOD, NAN]))
    assert not learns(track(GOOD[:5]))


def scales(*values, line=100):
    points = run([None] * len(values), series="overflow", line=line)
    return Track(
        tuple(replace(p, loss_scale=s, step=None) for p, s in zip(points, values, strict=True))
    )


SLIDING = [65536.0 / 2**i for i in range(17)]


def test_a_scale_that_slides_to_its_minimum_is_found():
    found = spent_scale(scales(*SLIDING), [track(GOOD)])
    assert found is not None
    assert found.what == "loss scale"


def test_a_scale_that_settles_on_the_way_is_normal():
    assert spent_scale(scales(*SLIDING[:6]), [track(GOOD)]) is None


def test_a_scale_of_one_from_the_beginning_is_that_of_bf16():
    assert spent_scale(scales(*[1.0] * 20), [track(GOOD)]) is None


def test_training_that_goes_on_at_the_lowest_scale_speaks_for_itself():
    later = at(run(GOOD, line=300), series="step #")
    assert spent_scale(scales(*SLIDING), [Track(tuple(later))]) is None
