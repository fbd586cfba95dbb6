"""The last counter of steps, and whether it came near its total."""

from app.counters import is_short_of_its_total, last_counter, stride
from app.model import Point


def counter(*steps, total=100, file=0, series="step #/#"):
    return [Point(file, n, series, step=n, total_steps=total) for n in steps]


def test_the_last_counter_is_the_series_of_a_file_that_was_read_last():
    train = counter(10, 20)
    loss = [Point(0, 21, "loss", step=21)]
    checked = [Point(0, 22, "eval step #/#", step=1, total_steps=9)]
    assert last_counter([*counter(10, file=1), *train, *loss, *checked]) == tuple(train)
    assert last_counter([*loss, *checked]) == ()


def test_a_stride_is_told_by_two_readings():
    assert stride(counter(10, 30)) == 20
    assert stride(counter(10)) == 0


def test_a_counter_is_short_where_its_next_reading_was_to_come_before_the_total():
    assert is_short_of_its_total(counter(10, 20))
    assert is_short_of_its_total(counter(98))
    assert not is_short_of_its_total(counter(80, 90))
    assert not is_short_of_its_total(counter(99))
    assert not is_short_of_its_total([])
