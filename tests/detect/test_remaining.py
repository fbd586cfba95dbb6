"""The time that a trainer expects to need, told beside its steps."""

from dataclasses import replace

from app.detect.counted import counted_to_the_end, has_steps_to_go
from app.detect.remaining import time_is_up
from tests.detect.training_runs import at, run

FORM = "Epoch: [{}] [ {}/600] loss: 0.41 eta: {}:{:02d}:{:02d} batch_cost: 0.3"


def epochs(left, count=3, per=6):
    """Readings of some epochs of 600 steps; `left(place)` gives the seconds to go."""
    points = []
    for place in range(count * per):
        epoch, step = place // per, place % per * 100 + 100
        seconds = left(place)
        told = FORM.format(epoch, step, seconds // 3600, seconds // 60 % 60, seconds % 60)
        (point,) = run([0.41], series="epoch: [#] [#/#", total=1800, line=place + 1)
        points += at([point], step=epoch * 600 + step, counts="some epoch", text=told)
    return points


LAST = epochs(lambda place: (17 - place) * 90)
FIRST = epochs(lambda place: (71 - place) * 90)
OF_EPOCHS = epochs(lambda place: (5 - place % 6) * 90)


def test_less_than_a_stride_is_left():
    assert time_is_up(LAST)
    assert not time_is_up(FIRST)
    assert not time_is_up(LAST[:-2])


def test_what_goes_up_with_each_epoch_is_of_the_epoch():
    assert not time_is_up(OF_EPOCHS)


def test_of_one_epoch_nobody_knows_whether_it_is_the_last():
    assert not time_is_up(epochs(lambda place: (11 - place) * 90, count=1, per=12))


def test_it_tells_the_last_epoch_from_any_other():
    assert counted_to_the_end(LAST) == LAST[-1]
    assert not has_steps_to_go(LAST)
    assert counted_to_the_end(FIRST) is None
    assert has_steps_to_go(FIRST)


def test_an_hour_to_go_is_no_end_whatever_was_counted_out():
    full = at(run([0.41] * 20, total=200, seconds=90), text="loss: 0.41 eta: 1:02:11")
    assert counted_to_the_end(full) is None
    assert counted_to_the_end(at(full, text="loss: 0.41 eta: 0:00:01"))


def test_the_time_left_of_a_warm_up_is_none_of_the_job():
    warm_up = [replace(point, series=f"warmup {point.series}") for point in LAST]
    assert counted_to_the_end(warm_up) is None
