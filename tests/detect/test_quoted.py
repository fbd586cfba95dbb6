"""Words of an end that a model wrote."""

import pytest

from app.detect.quoted import without_quoted
from app.model import Marked, Point
from tests.detect.training_runs import line

DONE = "The job was done. Training completed successfully!"
SAMPLES = "=== samples at step 1000 ==="


def stands(*texts, steps=(), times=(), grade="hint"):
    """Say whether the last line stands as a word of an end."""
    lines = [line(n, text, time=dict(times).get(n)) for n, text in enumerate(texts, 1)]
    points = [Point(0, number, "step #", step=number) for number in steps]
    return bool(without_quoted([Marked("done", "finished", lines[-1], grade)], lines, points))


@pytest.mark.parametrize(
    "text",
    [
        '{"event": "sample", "text": "All done, exit code 0."}',
        '{"step": 40, "completion": "training finished successfully"}',
        '[sample] prompt: "How did it go?" completion: "Finished training."',
        'generated text: "all jobs finished"',
    ],
)
def test_what_stands_in_the_text_of_a_sample_is_no_end(text):
    assert not stands(text)


@pytest.mark.parametrize(
    "text",
    [
        DONE,
        "generation of samples: all jobs finished",
        '{"event": "end", "text": "training finished successfully"}',
        "all 200 samples finished",
        '{"level": "info", "msg": "Training completion reached"}',
    ],
)
def test_what_is_said_of_samples_may_be_an_end(text):
    assert stands(text)


def test_a_heading_of_samples_holds_for_the_lines_below_it():
    assert not stands(SAMPLES, "> Once upon a time", DONE)
    assert not stands("Generated text after epoch 3:", DONE)


def test_no_model_speaks_as_a_wrapper_below_a_heading():
    assert stands(SAMPLES, "> Once upon a time", "exit code 0", grade="wrapper")


def test_a_heading_of_samples_holds_until_a_step_or_a_clock():
    assert stands(SAMPLES, "> Once", "step 1001", DONE, steps=[3])
    assert stands(SAMPLES, "> Once", DONE, times=[(3, 1e9)])
    assert stands(SAMPLES, *["> Once"] * 20, DONE)
    assert stands("samples", DONE)
