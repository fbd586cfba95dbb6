import math
import random

from hypothesis import given
from hypothesis import strategies as st

from app.compress.thinning import Thinned, Tracks
from app.model import Point


def points(losses: list[float | None]) -> list[Point]:
    return [Point(0, n, "s", step=n, loss=loss) for n, loss in enumerate(losses, 1)]


def thin(losses: list[float | None], limit: int = 100) -> list[Point]:
    held = Thinned(limit)
    for point in points(losses):
        held.add(point)
    return held.points()


def noise(count: int) -> list[float | None]:
    rng = random.Random(7)
    return [2.0 + rng.random() for _ in range(count)]


def test_a_short_series_is_kept_whole():
    assert thin(noise(90)) == points(noise(90))


def test_a_long_series_keeps_its_bound_its_first_and_its_last():
    for count in (101, 5_000, 50_003):
        kept = thin(noise(count))
        assert len(kept) <= 100
        assert (kept[0].number, kept[-1].number) == (1, count)


def test_points_stay_spread_over_the_whole_series():
    numbers = [point.number for point in thin(noise(20_000))]
    gaps = [later - earlier for earlier, later in zip(numbers, numbers[1:], strict=False)]
    assert max(gaps) < 20_000 / 5


def test_one_reading_that_is_not_finite_is_never_lost():
    for at in (0, 1, 777, 19_998, 19_999):
        losses = noise(20_000)
        losses[at] = math.nan
        assert at + 1 in [p.number for p in thin(losses) if p.loss and math.isnan(p.loss)]


def test_the_first_of_a_run_of_nan_is_kept():
    losses = noise(20_000)
    losses[12_345:] = [math.nan] * (20_000 - 12_345)
    broken = [p.number for p in thin(losses) if p.loss is not None and math.isnan(p.loss)]
    assert broken[0] == 12_346


def test_a_peak_a_dip_and_a_missing_loss_are_kept():
    losses = noise(20_000)
    losses[5_000], losses[9_000], losses[13_000] = 50.0, -50.0, None
    kept = {p.number: p.loss for p in thin(losses)}
    assert (kept[5_001], kept[9_001]) == (50.0, -50.0)
    assert kept[13_001] is None


def test_a_peak_of_the_gradient_norm_is_kept():
    held = Thinned(100)
    for n in range(10_000):
        held.add(Point(0, n, "s", loss=1.0, grad_norm=math.inf if n == 4_321 else 1.0))
    assert 4_321 in [p.number for p in held.points()]


def test_giving_up_memory_keeps_the_extremes():
    held = Thinned(1000)
    losses = noise(900)
    losses[450] = math.inf
    for point in points(losses):
        held.add(point)
    held.shrink(64)
    kept = held.points()
    assert len(kept) <= 64
    assert 451 in [p.number for p in kept]


def test_a_flood_of_names_leaves_the_series_that_go_on():
    tracks = Tracks(1000)
    for n in range(5_000):
        steady = tracks.track(0, None, "steady")
        assert steady is not None
        steady.held.add(Point(0, n, "steady", step=n))
        once = tracks.track(0, None, f"once {n}")
        if once is not None:
            once.held.add(Point(0, n, f"once {n}"))
    steps = [p.step for p in tracks.points() if p.series == "steady"]
    assert (steps[0], steps[-1]) == (0, 4_999)


@given(
    st.lists(st.one_of(st.none(), st.floats()), max_size=400),
    st.integers(min_value=32, max_value=80),
)
def test_any_series_keeps_bound_order_and_both_ends(losses, limit):
    kept = thin(losses, limit)
    assert len(kept) <= limit
    numbers = [p.number for p in kept]
    assert numbers == sorted(set(numbers))
    assert numbers[:1] == [1][: len(losses)]
    assert numbers[-1:] == [len(losses)][: len(losses)]
