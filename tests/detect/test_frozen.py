"""Progress bars whose own clock goes on while they stand at one step."""

import pytest

from app.detect.frozen import frozen
from app.detect.stall import stall
from app.detect.tracks import tracks
from app.model import Point


def bar(step, seconds, total=900):
    clock = f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    text = f"train:  7%|# | {step}/{total} [{clock}<1:02:11, 4.00s/it]"
    return Point(0, step, "train bar", step=step, total_steps=total, text=text)


MOVING = [bar(step, 4 * step) for step in range(1, 51)]


def standing(seconds, readings=12, total=900):
    return [bar(50, 200 + seconds * n // readings, total) for n in range(1, readings + 1)]


def test_a_bar_that_is_drawn_for_hours_at_one_step_stands_still():
    found = frozen(tracks([*MOVING, *standing(7200)]))
    assert found is not None
    assert (found.since.step, found.seconds) == (50, 7200)
    assert stall(tracks([*MOVING, *standing(7200)]), [], [], [], trained_before=False) is not None


@pytest.mark.parametrize(
    "points",
    [
        pytest.param([*MOVING, *standing(600)], id="for minutes, as in an evaluation"),
        pytest.param([*MOVING, *standing(7200, readings=2)], id="drawn twice"),
        pytest.param([*MOVING, *standing(7200), bar(51, 7404)], id="went on"),
        pytest.param([*standing(7200)], id="never moved before"),
        pytest.param([*MOVING, *standing(7200), bar(50, 7500, total=50)], id="at its end"),
        pytest.param([], id="nothing"),
    ],
)
def test_what_is_no_proof(points):
    assert frozen(tracks(points)) is None
