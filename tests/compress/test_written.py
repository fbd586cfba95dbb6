"""Filters that a model wrote, at run time: they take routine lines away and never evidence."""

import pytest

from app.compress.scan import Scanner
from app.rulebook.pattern import PatternError
from app.written import Routine
from tests.compress.plant import plant, read

VALVE = Routine("valve_positions", r"valve \d+ at \d+ percent")
WRITTEN = plant().with_written([VALVE])
SMALL, LARGE = 1, 4000  # lines of noise: below and above what arrow is asked for


def kept(text, compiled=WRITTEN, noise=SMALL):
    data = b"valve 4 at 80 percent\n" * noise + text.encode() + b"\n"
    found = Scanner(compiled).scan(memoryview(bytearray(data)))
    return [found.line(index).decode().rstrip("\n") for index in found.kept.tolist()]


@pytest.mark.parametrize("noise", [SMALL, LARGE])
def test_it_takes_its_lines_away_beside_those_of_the_shipped_filters(noise):
    assert kept("gauge 9 reads 1\nvalve 3 at 7 percent\nvalve 3 opens", noise=noise) == [
        "valve 3 opens"
    ]


@pytest.mark.parametrize("noise", [SMALL, LARGE])
def test_a_line_that_a_signal_meets_is_kept(noise):
    line = "valve 3 at 7 percent: pump 3 leaks"
    assert kept(line, noise=noise) == [line]


@pytest.mark.parametrize("noise", [SMALL, LARGE])
@pytest.mark.parametrize(
    "line",
    [
        "valve 3 at 7 percent ERROR",
        "Failed: valve 3 at 7 percent",
        "valve 3 at 7 percent\tlost",
        "valve 3 at 7 percent, torque=nan",
    ],
)
def test_a_line_with_a_word_of_trouble_is_kept_though_no_signal_knows_it(line, noise):
    assert kept(line, noise=noise) == [line]


def test_a_metric_that_is_named_after_an_error_is_none():
    assert kept("valve 3 at 7 percent mean_error=0.2") == []


def test_a_line_that_a_shipped_filter_keeps_is_kept():
    oil = plant().with_written([Routine("gauges", r"gauge \d+ reads")])
    assert kept("gauge 7 reads 12", oil)[-1] == "gauge 7 reads 12"


def test_the_shipped_rules_stay_as_they_are_beside_it():
    assert "valve 3 at 7 percent" in kept("valve 3 at 7 percent", plant())
    assert WRITTEN.database is plant().database


def test_a_regex_that_takes_more_than_linear_time_does_not_run():
    with pytest.raises(PatternError):
        Scanner(plant().with_written([Routine("back", r"(valve) \1")]))


def test_what_it_took_away_is_counted_under_its_name():
    log = b"valve 4 at 80 percent\n" * 30 + b"gauge 9 reads 1\n" * 10 + b"pump 3 leaks\n"
    removed = read(log, compiled=WRITTEN).removed
    assert removed == {"valve_positions": 30, "gauges": 10}
