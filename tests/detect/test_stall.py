"""Training that stood still, and silence that means something else."""

from dataclasses import replace

import pytest

from app.detect.stall import stall
from app.detect.tracks import tracks
from app.model import Finding, Line, Marked, Sighting
from tests.detect.training_runs import START, at, beats, line, losses, run

STEPS = run(losses(40), seconds=12.0)
LAST_STEP = STEPS[-1]
LAST = LAST_STEP.time
PRINTED = [line(p.number, f"step {p.step} loss 2.1", time=p.time) for p in STEPS]


def found_in(lines, findings=(), marks=(), points=STEPS, before=False):
    return stall(tracks(points), lines, findings, marks, trained_before=before)


def told(cause, seen: Line, strength="proof"):
    sighting = Sighting("some_signal", seen, strength)
    return Finding(cause, "some_signal", strength, (sighting,), 1)


KILL = line(99, "CANCELLED DUE TO TIME LIMIT", time=LAST + 9000)


def test_heartbeats_that_go_on_long_after_the_last_step_tell_of_a_stall():
    found = found_in(PRINTED + beats(41, 20, since=LAST, every=60))
    assert found is not None
    assert found.last_step is STEPS[-1]
    assert found.silence.seconds == 1200


def test_a_log_that_ends_with_its_last_step_tells_nothing():
    assert found_in(PRINTED) is None


def test_a_silence_shorter_than_twenty_intervals_is_no_stall():
    assert found_in(PRINTED + beats(41, 15, since=LAST, every=15)) is None


def test_the_longest_pause_that_the_log_survived_sets_the_measure():
    paused = [*STEPS[:20], *run(losses(20), seconds=12.0, line=61)]
    late = [type(p)(p.file, p.number, p.series, time=p.time + 4000) for p in paused[20:]]
    late = [
        type(p)(p.file, p.number, p.series, time=p.time, step=200 + i, loss=2.0)
        for i, p in enumerate(late)
    ]
    end = late[-1].time
    lines = [line(p.number, "step", time=p.time) for p in (*paused[:20], *late)]
    short, long = (beats(200, n, since=end, every=60) for n in (60, 400))
    assert found_in(lines + short, points=[*paused[:20], *late]) is None
    assert found_in(lines + long, points=[*paused[:20], *late]) is not None


def test_hours_without_a_step_before_the_time_limit_are_a_stall():
    found = found_in([*PRINTED, KILL], [told("TimeLimitExceeded", KILL)])
    assert found is not None
    assert found.silence.seconds == 9000


def test_a_job_that_still_made_steps_at_its_time_limit_was_healthy():
    soon = line(99, "CANCELLED DUE TO TIME LIMIT", time=LAST + 20)
    assert found_in([*PRINTED, soon], [told("TimeLimitExceeded", soon)]) is None


def test_what_is_printed_after_the_kill_does_not_count():
    torn = [line(100, "srun: forcing job termination", time=LAST + 9002)]
    assert found_in([*PRINTED, KILL, *torn], [told("TimeLimitExceeded", KILL)]) is not None


def test_a_silence_that_an_error_ends_is_that_errors():
    error = line(99, "watchdog timed out", time=LAST + 1800)
    assert found_in([*PRINTED, error], [told("NCCLTimeoutError", error)]) is None


def test_an_error_before_the_last_step_was_survived():
    error = line(3, "save failed", time=STEPS[3].time)
    lines = PRINTED + beats(41, 20, since=LAST, every=60)
    assert found_in(lines, [told("StorageError", error)]) is not None


def test_a_count_that_rises_is_progress():
    counting = beats(41, 100, since=LAST, every=60, text="batch {}")
    done = [
        line(c.number, f"evaluated {i + 1}/100 batches", time=c.time)
        for i, c in enumerate(counting)
    ]
    assert found_in(PRINTED + done) is None


def test_lines_of_another_kind_show_that_something_moves():
    moves = [line(90, "preparing the next stage", time=LAST + 1190)]
    assert found_in(PRINTED + beats(41, 20, since=LAST, every=60) + moves) is None


@pytest.mark.parametrize(("minutes", "stalled"), [(40, False), (70, True)])
def test_work_that_is_known_to_be_long_is_given_an_hour(minutes, stalled):
    begun = line(41, "evaluating on 20000 samples", time=LAST + 1)
    found = found_in([*PRINTED, begun, *beats(42, minutes, since=LAST + 1, every=60)])
    assert (found is not None) == stalled


def test_the_last_of_all_steps_is_followed_by_nothing_to_wait_for():
    whole = run(losses(40), seconds=12.0, total=400)
    assert found_in(PRINTED + beats(41, 20, since=LAST, every=60), points=whole) is None


def test_the_rank_that_stops_while_the_others_go_on_fell_silent_first():
    points = [p for rank in range(4) for p in run(losses(40), seconds=12.0, file=rank, rank=rank)]
    lines = [line(p.number, "step", time=p.time, file=p.file, rank=p.rank) for p in points]
    lines.append(line(41, "fetching shard 12", time=LAST + 0.1, file=2, rank=2))
    for rank in (0, 1, 3):
        lines += beats(41, 40, since=LAST, every=60, file=rank, rank=rank)
    found = found_in(lines, points=points)
    assert found is not None
    assert [quiet.text for quiet in found.quiet] == ["fetching shard 12"]


def test_a_clock_without_a_date_runs_over_midnight():
    steps = [type(p)(0, i + 1, "step #", step=i, loss=2.0) for i, p in enumerate(STEPS)]
    lines = [line(i + 1, f"23:{i // 5:02d}:{i % 5 * 12:02d} step {i}") for i in range(40)]
    lines += [line(50 + i, f"{i:02d}:07:50 waiting for the trainer ({i})") for i in range(6)]
    found = found_in(lines, points=steps)
    assert found is not None
    assert found.silence.seconds > 5 * 3600


def test_steps_without_a_clock_are_followed_by_lines_with_one():
    steps = [
        type(p)(0, i + 1, "step #", step=i, loss=2.0, step_seconds=110.0)
        for i, p in enumerate(STEPS)
    ]
    lines = [line(41, "valid loss 2.3")]
    lines += beats(42, 6, since=START, every=3600, text="PULSE: running for 1-0{}:27:33")
    assert found_in(lines, points=steps) is not None


def test_what_is_printed_long_after_a_kill_is_no_silence_of_steps_without_a_clock():
    steps = [replace(point, time=None, step_seconds=12.0) for point in STEPS]
    early = line(99, "CANCELLED DUE TO TIME LIMIT", time=LAST)
    late = line(100, "failed (exitcode: 1)", time=LAST + 9000)
    findings, exits = [told("TimeLimitExceeded", early)], [Marked("exited", "exit", late)]
    assert found_in([early, late], findings, exits, points=steps) is None
    assert found_in([early, late], (), exits, points=steps) is not None


def test_clocks_of_one_file_that_disagree_make_no_silence():
    ahead = [line(0, "STARTING TIMING RUN", time=LAST + 7200)]
    ends = beats(41, 3, since=LAST + 7195, every=10, text="RESULT,bert,{}")
    assert found_in([*ahead, *PRINTED, *ends]) is None


def test_an_attempt_without_steps_is_stalled_only_where_steps_are_known_to_be_printed():
    waiting = [line(1, "building groups", time=START), *beats(2, 12, since=START, every=600)]
    assert found_in(waiting, points=(), before=True) is not None
    assert found_in(waiting, points=(), before=False) is None


def test_the_end_of_a_process_ends_the_silence():
    gone = line(99, "tasks 0-7: Killed", time=LAST + 9000)
    later = [line(100, "epilog: node is clean", time=LAST + 9500)]
    marks = [Marked("srun_task_signal", "exit", gone)]
    found = found_in([*PRINTED, gone, *later], marks=marks)
    assert found is not None
    assert found.silence.seconds == 9000


def test_what_a_watcher_says_of_the_silence_does_not_break_it():
    watcher = line(60, "no output from any rank for 1800 seconds", time=LAST + 1800)
    assert found_in([*PRINTED, watcher]) is None
    found = found_in([*PRINTED, watcher], [told("Stalled", watcher, "clue")])
    assert found is not None
    assert found.silence.seconds == 1800


def test_steps_without_a_clock_have_that_of_the_lines_among_them():
    quiet = [p for p in run(losses(40)) if p.number % 5]
    among = [line(n, f"keepalive {n}", time=START + 60.0 * n / 5) for n in range(5, 41, 5)]
    after = beats(41, 40, since=among[-1].time, every=60, text="keepalive {}")
    found = found_in([*among, *after], points=quiet)
    assert found is not None
    assert found.silence.seconds == 2400
    assert found_in([*among, *after[:3]], points=quiet) is None


def test_a_kill_without_a_clock_ends_a_very_long_silence_only():
    stopped = line(60, "KeyboardInterrupt")
    for seconds, stalled in ((9000, True), (1800, False)):
        behind = line(61, "loader workers are gone", time=LAST + seconds)
        found = found_in([*PRINTED, stopped, behind], [told("Cancelled", stopped, "clue")])
        assert (found is not None) == stalled


def test_last_words_after_hours_of_silence_do_not_undo_it():
    words = line(60, "supervisor: killing pid 812", time=LAST + 14400)
    more = [line(61 + n, f"shutting down part {'abc'[n]}", time=LAST + 14401) for n in range(3)]
    found = found_in([*PRINTED, words, *more])
    assert found is not None
    assert found.silence.seconds == 14400
    assert found_in([*PRINTED, words, *more], [told("ConnectionError", words, "clue")]) is None


def test_a_program_that_is_started_anew_after_hours_had_not_stood_still():
    moved = [replace(p, number=p.number + 5) for p in STEPS]
    steps = [line(p.number, f"step {p.step} loss 2.1", time=p.time) for p in moved]
    begin = line(1, "loaded the encoder of 12 layers", time=LAST_STEP.time - 9000)
    again = line(99, "loaded the encoder of 24 layers", time=LAST + 70_000)
    assert found_in([begin, *steps, again], points=moved) is None
    other = line(99, "shutting down", time=LAST + 70_000)
    assert found_in([begin, *steps, other], points=moved) is not None
    amid = line(20, "loaded the encoder of 16 layers", time=moved[10].time)
    assert found_in([begin, *steps, amid, again], points=moved) is not None


def test_much_that_is_said_after_a_silence_shows_that_the_job_goes_on():
    words = [f"reading part {chr(97 + n)} of the evaluation" for n in range(12)]
    later = [line(60 + n, text, time=LAST + 14400 + n) for n, text in enumerate(words)]
    assert found_in([*PRINTED, *later]) is None


def test_a_step_that_is_told_again_and_again_was_made_when_it_was_told_first():
    again = [replace(LAST_STEP, number=100 + n, time=LAST + 60 * (n + 1)) for n in range(30)]
    lines = [*PRINTED, *(line(p.number, "state=running step=400", time=p.time) for p in again)]
    found = found_in(lines, points=[*STEPS, *again])
    assert found is not None
    assert found.last_step is LAST_STEP
    assert found.silence.seconds == 1800


@pytest.mark.parametrize(("minutes", "stalled"), [(50, False), (70, True)])
def test_steps_without_any_clock_took_no_longer_than_all_of_them_together(minutes, stalled):
    untimed = [replace(p, time=None, number=p.number + 1) for p in run(losses(40))]
    printed = [line(1, "training begins", time=START)]
    printed += [line(p.number, f"step {p.step} loss 2.1") for p in untimed]
    beaten = beats(50, minutes, since=START + 600, every=60)
    assert (found_in(printed + beaten, points=untimed) is not None) is stalled


def test_a_long_training_without_any_clock_asks_for_a_longer_silence():
    untimed = [replace(p, time=None, number=p.number + 1) for p in run(losses(40))]
    printed = [line(1, "training begins", time=START)]
    beaten = beats(50, 120, since=START + 6000, every=60)
    assert found_in(printed + beaten, points=untimed) is None


def test_the_pace_is_told_by_another_series_that_came_to_the_same_step():
    block = run(losses(40), series="block")
    head = run([None], every=400, line=50, series="head of an epoch")
    said = [line(52, "epoch 2 begins", time=START)]
    said += beats(60, 5, since=START, every=3600.0, text="gpus: 0 0 0 {}")
    quick, slow = (at(block, step_seconds=seconds) for seconds in (2.5, 250.0))
    assert found_in(said, points=quick + head) is not None
    assert found_in(said, points=slow + head) is None
    assert found_in(said, points=quick + at(head, step=401)) is None
