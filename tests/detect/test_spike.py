"""Jumps of the loss that last, and all that looks like one."""

import random

import pytest

from app.detect.spike import jump
from app.detect.tracks import Track
from tests.detect.training_runs import line, losses, run, track

HEALTHY = losses(80)
CALM = [0.4] * 80


def jumped(at=50, to=6.0):
    return HEALTHY[:at] + [to + 0.01 * (i % 5) for i in range(80 - at)]


def exploded(at=49, times=15):
    return [0.4 if i < at else 0.4 * times * (1 + 0.1 * (i % 3)) for i in range(80)]


def test_a_loss_that_jumps_and_stays_is_found_where_it_began():
    found = jump(track(jumped()), [])
    assert found is not None
    assert found.onset.step == 510
    assert (round(found.before, 1), round(found.after, 1)) == (2.3, 6.0)
    assert found.readings == 30


def test_a_jump_is_found_though_the_loss_takes_some_readings_to_rise():
    rising = HEALTHY[:50] + [2.9, 3.8, 5.0, 6.1] + [6.2] * 26
    found = jump(track(rising, exploded()), [])
    assert found is not None
    assert found.onset.step in (510, 520)


def test_a_loss_that_climbs_slowly_away_from_its_best_level_is_found():
    healthy = losses(200)
    climbing = healthy[:100] + [2.1 + 4.0 * i / 60 for i in range(60)] + [6.1] * 40
    found = jump(track(climbing, [0.4 if i < 110 else 3.0 for i in range(200)]), [])
    assert found is not None
    assert (round(found.before, 1), round(found.after, 1)) == (2.4, 6.1)
    assert jump(track(healthy, [0.4] * 200), []) is None


def test_a_climb_that_turns_back_is_recovering():
    there = [2.1 + 4.0 * i / 60 for i in range(60)]
    climbing = losses(200)[:100] + there + there[::-1][:40]
    assert jump(track(climbing, [0.4 if i < 110 else 3.0 for i in range(200)]), []) is None


def test_four_readings_suffice_if_the_norm_exploded_too():
    ends = jumped(at=76)
    assert jump(track(ends, exploded(at=75)), []) is not None


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("noise", [0.003, 0.05, 0.3])
def test_noise_is_no_jump(seed, noise):
    assert jump(track(losses(120, noise=noise, seed=seed)), []) is None


def test_lonely_outliers_are_no_jump():
    rng = random.Random(4)
    spiky = [value * (4 if rng.random() < 0.06 else 1) for value in losses(200)]
    assert jump(track(spiky), []) is None


def test_a_spike_that_comes_back_is_none():
    assert jump(track(HEALTHY[:40] + [9.0, 8.0, 7.0, 6.0, 5.0, 4.0] + HEALTHY[46:]), []) is None


def test_a_loss_that_has_come_back_half_way_is_recovering():
    back = HEALTHY[:20] + [4.0 + 12.0 * 0.95**i for i in range(60)]
    assert jump(track(back), []) is None


def test_the_first_steps_of_a_run_may_go_up():
    warming = [7.6, 7.1, 9.0, 13.9, 25.9, 27.3, 18.7, 12.8, 11.2, 9.8, 8.5, 7.1]
    assert jump(track(warming + losses(40, low=4, top=6)), []) is None
    assert jump(track(warming[:8]), []) is None


def test_a_pretrained_model_that_breaks_at_once_is_found_by_its_long_future():
    assert jump(track([1.59, 1.41, 3.3, 6.4] + [4.7] * 40), []) is not None
    assert jump(track([1.59, 1.41, 3.3, 6.4] + [4.7] * 10), []) is None


def test_without_a_change_of_the_norm_other_data_explain_a_higher_level():
    mixed = HEALTHY[:50] + [value * 1.8 for value in HEALTHY[50:]]
    assert jump(track(mixed, CALM), []) is None
    assert jump(track(mixed), []) is None
    assert jump(track(mixed, exploded()), []) is not None


def test_a_rise_that_undoes_what_was_learned_needs_a_restless_norm_but_no_doubling():
    learning = [2.0 + 6.0 * 0.93**i for i in range(50)]
    unlearnt = [4.2 + 0.01 * (i % 5) for i in range(30)]
    restless = exploded(times=1.6)
    assert jump(track(learning + unlearnt, restless), []) is not None
    assert jump(track(learning + unlearnt, CALM), []) is None
    assert jump(track([60.0] * 3 + learning[3:] + unlearnt, restless), []) is None


def test_a_change_that_a_line_announces_is_planned():
    told = [line(50, "[data] switching to blend B: 40 % code")]
    shifted = Track((*run(jumped())[:49], *run(jumped(), line=2)[49:]))
    assert jump(shifted, told) is None
    assert jump(shifted, [line(50, "[data] queue 8/8")]) is not None


def test_a_norm_that_is_printed_after_clipping_tells_nothing():
    found = jump(track(jumped(), [1.0] * 80), [])
    assert found is not None
    assert found.norm_growth is None


def test_a_restart_of_the_step_counter_parts_what_is_compared():
    first, second = run(losses(40)), run([6.0] * 40, line=41)
    assert jump(Track((*first, *second)), []) is None


def test_a_resume_a_little_way_back_is_the_same_run():
    first, second = run(losses(40)), run([6.0] * 40, line=41)
    resumed = [replaced(point, point.step + 350) for point in second]
    assert jump(Track((*first, *resumed)), []) is not None


def replaced(point, step):
    return type(point)(point.file, point.number, point.series, step=step, loss=point.loss)


def test_losses_of_reinforcement_learning_are_never_judged_by_their_level():
    assert jump(track(jumped(), series="rl step:#"), []) is None


def test_a_policy_whose_norm_explodes_for_good_is_found():
    swinging = [0.01 * (-1) ** i for i in range(80)]
    found = jump(track(swinging, exploded(times=400), series="rl step:#"), [])
    assert found is not None
    assert found.of == "gradient norm"
    assert jump(track(swinging, exploded(times=4), series="rl step:#"), []) is None


def test_losses_that_are_zero_or_negative_do_no_harm():
    assert jump(track([0.0] * 40 + [-0.1] * 40), []) is None


def test_without_a_norm_a_loss_that_is_thrown_about_needs_to_rise_less():
    low, high = losses(80, noise=0.005)[:50], [4.3 * (1 + 0.06 * (-1) ** i) for i in range(30)]
    assert jump(track(low + high), []) is not None
    assert jump(track(low + [4.3 + 0.01 * (i % 3) for i in range(30)]), []) is None


def test_a_norm_that_stays_as_it_was_is_not_taken_for_a_clipped_one():
    doubled = HEALTHY[:50] + [5.0 + 0.01 * (i % 5) for i in range(30)]
    varied = [0.4 + 0.1 * (i % 2) for i in range(80)]
    assert jump(track(doubled, varied), []) is None
    assert jump(track(doubled, [1.0] * 80), []) is not None


def test_a_climb_above_all_that_was_is_found_if_the_norm_exploded():
    climbing = losses(200, top=4.0)[:100] + [2.1 + 8.0 * i / 60 for i in range(60)] + [10.1] * 40
    assert jump(track(climbing, [0.4 if i < 110 else 3.0 for i in range(200)]), []) is not None


EPOCHS = [1.9, 1.4, 1.1, 0.95, 0.9, 0.86, 0.84, 0.83, 0.82]


def test_of_a_few_epochs_a_plain_rise_is_seen():
    found = jump(track([*EPOCHS, 9.4, 20.1, 20.2, 20.1], every=1), [])
    assert found is not None
    assert (found.onset.step, found.before) == (10, 0.84)


def test_a_negative_loss_rises_by_its_distance_from_zero():
    found = jump(
        track([-11.2, -11.9, -12.1, -12.2, -12.2, -12.3, -3.0, 4.1, 8.2, 8.4, 8.3, 8.3]), []
    )
    assert found is not None
    assert found.onset.step == 70


@pytest.mark.parametrize(
    "end",
    [[1.3, 1.4, 1.3], [5.0, 6.0], [9.4, 20.1, 4.0, 1.0], [9.4, 9.0, 0.9, 0.85], [0.8, 0.81, 9.0]],
    ids=["a step", "too few to tell", "coming back", "back again", "one outlier at the end"],
)
def test_of_a_few_epochs_little_is_believed(end):
    assert jump(track([*EPOCHS, *end], every=1), []) is None


def test_a_loss_that_was_as_high_just_before_did_not_jump():
    assert jump(track([2.1, 9.0, 1.8, 2.2, 8.1, 1.9, 9.2, 8.8, 9.1, 9.0], every=1), []) is None


@pytest.mark.parametrize("before", [1, 2, 30])
def test_a_loss_that_explodes_is_found_however_little_stands_before_it(before):
    healthy = losses(before, low=0.1, top=0.3)
    jumped_up = jump(track([*healthy, 25_000, 76_000, 29_000, 135_000, 437_000, 1_200_000]), ())
    assert jumped_up is not None
    assert jumped_up.onset.step == (before + 1) * 10


@pytest.mark.parametrize("after", [[900.0] * 4, [900.0, 800.0, 0.2, 0.2, 0.2, 0.1], [60.0] * 8])
def test_it_must_stay_up_be_far_out_and_be_told_again(after):
    assert jump(track([0.05, *after]), ()) is None
