"""How long steps take, and what is said of slow ones."""

from dataclasses import replace

from app.detect.pace import pace, remarks_on_pace
from app.detect.tracks import Track
from tests.detect.training_runs import losses, run


def timed(seconds):
    points = run(losses(len(seconds)), every=1)
    return Track(tuple(replace(p, step_seconds=s) for p, s in zip(points, seconds, strict=True)))


def test_the_clock_of_the_lines_is_asked_first():
    track = Track(tuple(run(losses(10), seconds=30.0)))
    assert pace(track, {}) == pace(Track(track.points), {})
    measured = pace(track, {})
    assert measured is not None
    assert (measured.usual, measured.longest) == (30.0, 30.0)


def test_lines_without_a_clock_tell_their_step_time():
    points = [replace(p, step_seconds=2.5) for p in run(losses(10), every=10)]
    measured = pace(Track(tuple(points)), {})
    assert measured is not None
    assert measured.usual == 25.0


def test_two_readings_make_no_pace():
    assert pace(Track(tuple(run(losses(2), seconds=1.0))), {}) is None


def test_regular_slow_steps_are_remarked_on():
    (said,) = remarks_on_pace([timed([2.7 if i % 10 == 9 else 0.9 for i in range(200)])])
    assert said.startswith("20 of 200 steps that were read took 2.7 s instead of 0.9 s")


def test_steps_that_became_slower_for_good_are_remarked_on():
    (said,) = remarks_on_pace([timed([1.0] * 150 + [2.4] * 50)])
    assert said == "steps became slower: 1 s at first, 2.4 s at the end, since step 151"


def test_the_first_steps_may_compile():
    assert remarks_on_pace([timed([93.0, 101.0, 7.0] + [4.3] * 100)]) == ()


def test_a_run_at_one_pace_is_not_remarked_on():
    assert remarks_on_pace([timed([1.0] * 100)]) == ()
    assert remarks_on_pace([]) == ()
