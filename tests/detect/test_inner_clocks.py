"""Clocks amid the words of beats, and those that are something else."""

import pytest

from app.detect.inner_clocks import inner_clocks
from tests.detect.training_runs import line

NOON = 1_772_625_600.0  # 2026-03-04 12:00:00 UTC
SAID = line(1, "step 10 loss 2.1", time=NOON)
DATED = {(SAID.file, SAID.number): NOON}


def seconds(*texts):
    lines = [SAID, *(line(n, text) for n, text in enumerate(texts, 2))]
    return [time - NOON for time, _ in inner_clocks(lines, DATED)]


@pytest.mark.parametrize(
    "texts",
    [
        [f"mon n7 12:0{m}:00 util 100 98" for m in (1, 2, 3)],
        [f"alive at 2026-03-04 12:0{m}:00" for m in (1, 2, 3)],
    ],
)
def test_a_clock_amid_words_that_come_again_is_read(texts):
    assert seconds(*texts) == [60, 120, 180]


def test_a_clock_runs_over_midnight():
    late = line(1, "step 10", time=NOON + 43_000)
    lines = [late, *(line(n, f"mon {t} ok") for n, t in enumerate(("23:59:00", "00:02:00"), 2))]
    lines.append(line(4, "mon 00:05:00 ok"))
    told = [time for time, _ in inner_clocks(lines, {(0, 1): late.time})]
    assert [time - NOON for time in told] == [43_140, 43_320, 43_500]


@pytest.mark.parametrize(
    "texts",
    [
        ["eta 12:03:00 left", "eta 12:02:00 left", "eta 12:01:00 left"],
        ["took 00:01:00 in all", "took 00:02:00 in all", "took 00:03:00 in all"],
        ["mon n7 12:01:00 util 100", "mon n7 12:02:00 util 98"],
        ["from run of 2025-01-01 12:00:00"] * 3,
    ],
)
def test_durations_and_other_dates_are_no_clocks(texts):
    assert seconds(*texts) == []
