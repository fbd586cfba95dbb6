"""What is made of the series of an attempt: findings with a line each, and remarks."""

import math
from dataclasses import replace

from app.detect.health import health
from app.model import Ending, Marked
from tests.detect.training_runs import START, beats, line, losses, run

OPEN = Ending()
NAN = math.nan
GOOD = losses(40)
DONE = Ending("trainer", line(99, "training finished"))


def only(found):
    ((finding,), _) = found
    return finding


def printed(points):
    return [line(p.number, f"step {p.step} loss {p.loss}", time=p.time) for p in points]


def test_a_spike_is_a_proof_on_the_line_where_it_began():
    points = run(GOOD + [9.0] * 20)
    finding = only(health(points, printed(points), DONE))
    assert (finding.cause, finding.signal, finding.strength) == ("LossSpike", "loss_spike", "proof")
    assert finding.first.text == "step 410 loss 9.0"
    assert finding.sightings[0].facts == {"step": "410"}
    assert "rose from 2.08 to 9 at step 410" in finding.summary


def test_a_broken_loss_stands_against_the_word_of_the_trainer():
    finding = only(health(run(GOOD + [NAN] * 5), [], DONE))
    assert (finding.cause, finding.signal) == ("NonFiniteLoss", "loss_not_finite")
    assert finding.summary == "the loss is no number at step 410 and stays so to the end"


def test_a_line_that_was_not_kept_is_shown_by_its_reading():
    points = [replace(point, text=f"step {point.step} loss nan") for point in run(GOOD + [NAN] * 5)]
    finding = only(health(points, [], OPEN))
    assert finding.first.raw == "step 410 loss nan"


def test_what_holds_for_the_whole_job_accuses_no_rank():
    points = run(GOOD + [NAN] * 5, rank=7)
    lines = [replace(kept, rank=7, host="n7") for kept in printed(points)]
    finding = only(health(points, lines, OPEN))
    assert (finding.first.rank, finding.first.host) == (None, None)


def test_a_healthy_run_gives_nothing():
    assert health(run(GOOD), [], OPEN) == ((), ())


def test_evaluations_are_not_looked_at():
    points = run(GOOD) + run([NAN] * 9, series="eval val loss", line=60)
    assert health(points, [], OPEN) == ((), ())


def test_a_stage_that_another_one_followed_is_past():
    points = run(GOOD + [NAN] * 5) + run(GOOD, series="stage two", line=60)
    assert health(points, [], OPEN) == ((), ())


def test_ranks_that_print_nan_from_the_first_do_not_count_beside_one_that_learns():
    points = run(GOOD, rank=7) + run([NAN] * 40, rank=0)
    assert health(points, [], OPEN) == ((), ())


def test_a_stall_is_told_with_its_length_and_the_rank_that_stopped():
    points = [p for rank in (0, 1, 2) for p in run(GOOD, seconds=10.0, file=rank, rank=rank)]
    lines = [line(p.number, "step", time=p.time, file=p.file, rank=p.rank) for p in points]
    for rank in (0, 2):
        lines += beats(41, 60, since=START + 390, every=60, file=rank, rank=rank)
    finding = only(health(points, lines, OPEN))
    assert finding.cause == "Stalled"
    assert finding.onset == START + 390
    assert finding.first.rank == 1
    assert finding.sightings[0].facts == {"seconds": "3600", "step": "400", "rank": "1"}
    assert finding.summary == (
        "nothing moved for 60 min after the last step at step 400; rank 1 fell silent first"
    )


def test_nothing_stalls_after_an_end_that_stands():
    points = run(GOOD, seconds=10.0)
    lines = printed(points) + beats(41, 60, since=START + 390, every=60)
    assert health(points, lines, DONE) == ((), ())


def test_the_last_checkpoint_before_the_trouble_is_named():
    marks = [
        Marked("checkpoint_saved", "saved", line(number, "saved"), facts={"step": step})
        for number, step in ((21, "200"), (43, "420"))
    ]
    _, remarks = health(run(GOOD + [NAN] * 5), [], OPEN, marks=marks)
    assert remarks == ("the last checkpoint that was saved before is of step 200",)
