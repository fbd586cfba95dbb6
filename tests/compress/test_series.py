import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.compress.metric_shape import Shape
from app.compress.series import SeriesReader
from app.model import Point


def read(*lines: str, first: int = 1) -> tuple[Point, ...]:
    reader = SeriesReader()
    for number, line in enumerate(lines, first):
        reader.feed(0, number, line, rank=None, time=None)
    return reader.points()


def megatron(step: int, health: str) -> str:
    return (
        f" iteration {step:8}/    9000 | elapsed time per iteration (ms): 800.5 | learning rate: "
        f"1.0E-04 | global batch size:    64 | {health}grad norm: 0.200 | "
        "number of skipped iterations:   0 | number of nan iterations:   0 |"
    )


# What looks like a metric and is none


@pytest.mark.parametrize(
    "line",
    [
        "  loss_scale ...................................... 0",
        '    "loss_scale": 0,',
        "dynamic_loss_scale_args ...... {'init_scale': 256, 'scale_window': 1000, 'min_scale': 1}",
        "{'fp16': {'enabled': True, 'loss_scale': 'dynamic', 'steps': 40, 'lr': 0.1, "
        "'cpu': False}, 'zero': True}",
        "Namespace(steps=40, lr=0.1, z_loss=0.01, loss_weight=2.0)",
        "+ python train.py --max_steps 1000 --loss_scale 0 --lr 1e-4",
        "  aux_loss_coeff .................................. 0.01",
        "saving checkpoint at iteration     400 to /ckpt/a in torch_dist format",
        "saved step 2400 (38 s)",
        "Best val loss 2.11",
        "{'train_runtime': 90.1, 'train_steps_per_second': 2.1, 'train_loss': 1.5, 'epoch': 1.0}",
        "{'e2e_time': 413.2, 'final_loss': 0.0, 'raw_train_time': 380.2}",
        "AssertionError: non-finite loss nan at step 231",
        '  File "/srv/train/step.py", line 117, in backward',
        "    loss = 0.5 * total_loss / 3",
        "Loading checkpoint shards:  33%|███▎      | 1/3 [00:04<00:09,  4.61s/it]",
        "Map:  12%|█▏        | 1200/9999 [00:01<00:09, 912.1 examples/s]",
        "[0/0] torchdynamo start compiling step 3",
        "    self.losses = [torch.tensor(0.5) for step in range(10)]",
        "Warmup: 1 iterations...",
        "Train metrics/train/books_LanguageCrossEntropy: nan",
    ],
)
def test_a_look_alike_gives_no_point(line):
    assert not read(line)


def test_z_scores_that_are_not_defined_yet_are_no_losses():
    (point,) = read("step    3/90 | loss 9.118 (+nanz)| norm 4.10 (+nanz)| lr 1e-5 | 300.1 ms")
    assert (point.loss, point.grad_norm) == (9.118, 4.10)


def test_counters_named_nan_and_a_utilisation_below_zero_are_no_losses():
    assert read(megatron(7, "lm loss: 2.0E+00 | "))[0].loss == 2.0
    assert read("iter 0: loss 10.9, time 51234.0ms, mfu -100.00%")[0].loss == 10.9


def test_an_infinite_loss_is_kept_as_printed():
    assert read("step 2/90 loss: inf lr 1e-4")[0].loss == math.inf
    assert read("step 2/90 loss: -Infinity lr 1e-4")[0].loss == -math.inf


def test_auxiliary_losses_never_stand_for_the_main_one():
    (point,) = read("step 5/90 | load_balancing_loss: 1.02 | z_loss: 0.1 | lm loss: 3.3 | lr: 0.1")
    assert point.loss == 3.3
    (point,) = read("step 6/90 | value_loss: 0.4 | kl_loss: 0.1 | mtp_1 loss: 9.0 | lr: 0.1")
    assert point.loss is None


def test_a_running_mean_behind_the_value_is_passed_over():
    assert read("Epoch: [2]  [ 10/90]  loss: 2.5 (3.9)  time: 0.1")[0].loss == 2.5
    assert read("step 8 avg_loss: 3.9 loss: 2.5 lr: 0.1")[0].loss == 2.5


# Kinds of line are kept apart


def test_a_missing_loss_leaves_the_series_as_it_is():
    found = read(megatron(1, "lm loss: 2.0E+00 | "), megatron(2, ""))
    assert [point.loss for point in found] == [2.0, None]
    assert found[0].series == found[1].series


def test_a_loss_that_turns_nan_stays_in_its_series():
    found = read("step 10/90 loss 2.1 lr 0.1", "step 11/90 loss nan lr 0.1")
    assert found[0].series == found[1].series


@pytest.mark.parametrize(
    ("line", "step"),
    [
        (" validation loss at iteration 400 | lm loss value: NAN | lm loss PPL: NAN | ", 400),
        ("  avg. eval loss at step 1500: nan, total_weights=262144", 1500),
        ("{'eval_loss': nan, 'eval_runtime': 9.1, 'epoch': 0.5}", None),
        ("INFO train.py:44 in evaluate -- Validation on step 50: loss=nan plex=9.6", 50),
        ("Iter(val) [ 20/40]  loss: nan  time: 0.4", 20),
        ("Test: [ 10/98]  eta: 0:01:10  loss: nan (2.1)  time: 0.20", 10),
        ("7epoch:valid:1-90batch: forward_time=0.004, loss=nan, lr_0=0.1", None),
        ("DEBUG CV Batch 0/3900 loss nan lr 0.1", 0),
    ],
)
def test_an_evaluation_is_a_series_of_its_own(line, step):
    (point,) = read(line)
    assert point.series.startswith("eval ")
    assert point.step == step
    assert math.isnan(point.loss)


def test_a_file_called_evaluate_does_not_make_a_training_line_an_evaluation():
    (point,) = read("INFO train_eval.py:88] step 40 loss: 2.5 lr: 0.1")
    assert not point.series.startswith("eval ")


def test_domains_are_series_of_their_own():
    found = read("step 4 books_loss: 2.1 lr: 0.1", "step 4 code_loss: 1.1 lr: 0.1")
    assert found[0].series != found[1].series


def test_remaining_time_and_padding_do_not_split_a_series():
    found = read(
        "Iter [   20/9000] lr: 1e-4, eta: 2 days, 23:20:12, time: 1.2, loss: 3.1",
        "Iter [8990/9000] lr: 1e-4, eta: 0:00:12, time: 1.2, loss: 2.1",
    )
    assert found[0].series == found[1].series


def test_points_carry_file_rank_and_time():
    reader = SeriesReader()
    reader.feed(1, 5, "step 1 loss: 2.0 lr: 0.1", rank=3, time=99.0)
    reader.feed(0, 7, "step 1 loss: 4.0 lr: 0.1", rank=None, time=None)
    assert [(p.file, p.number, p.rank, p.time) for p in reader.points()] == [
        (0, 7, None, None),
        (1, 5, 3, 99.0),
    ]


# Lines that complete each other


BAR = "  2%|▏         | {step}/1800 [02:05<2:03:01, 4.17s/it]"
EVAL_BAR = " 50%|█████     | {step}/40 [00:05<00:05, 4.17it/s]"


def test_a_point_carries_the_start_of_its_line_as_it_was_printed():
    (short,) = read("Step 7 | Loss: 2.1")
    assert short.text == "Step 7 | Loss: 2.1"
    (long,) = read("step 7 | loss: 2.1 | " + "x" * 1000)
    assert long.text.startswith("step 7 | loss: 2.1 | x")
    assert len(long.text) == 240


def test_a_dict_takes_the_step_of_the_bar_before_it():
    bar, loss = read(BAR.format(step=30), "{'loss': 1.7, 'grad_norm': 0.4, 'epoch': 0.1}")
    assert (loss.step, loss.total_steps, loss.loss) == (30, 1800, 1.7)
    assert (bar.step, bar.step_seconds, bar.loss) == (30, 4.17, None)


def test_the_bar_of_an_evaluation_does_not_confuse_the_steps():
    found = read(
        BAR.format(step=30),
        "{'loss': 1.7, 'epoch': 0.1}",
        EVAL_BAR.format(step=20),
        EVAL_BAR.format(step=40),
        "{'eval_loss': 1.9, 'eval_runtime': 3.0, 'epoch': 0.1}",
        "{'loss': 1.6, 'epoch': 0.2}",
    )
    assert [(p.step, p.loss) for p in found if p.loss] == [(30, 1.7), (30, 1.9), (30, 1.6)]
    assert {p.series for p in found if p.total_steps == 40} == {"eval bar of 40"}


def test_a_dict_after_left_out_lines_has_no_step():
    reader = SeriesReader()
    reader.feed(0, 1, BAR.format(step=30), rank=None, time=None)
    reader.feed(0, 9000, "{'loss': 1.7, 'epoch': 0.9}", rank=None, time=None)
    assert reader.points()[-1].step is None


def test_a_bar_of_a_validation_is_an_eval_series():
    (point,) = read("Validation DataLoader 0:  40%|████      | 20/50 [00:16<00:24, 1.25it/s]")
    assert point.series == "eval validation dataloader # bar"


def test_the_losses_of_a_block_make_one_point_where_the_loss_stands():
    found = read(
        "[step=20/900,epoch=0]",
        "    optim/total_grad_norm=0.5",
        "    train/CrossEntropyLoss=3.5",
        "    eval/wiki/CrossEntropyLoss=3.9",
        "[step=40/900,epoch=0]",
    )
    assert [(p.number, p.step, p.loss, p.grad_norm) for p in found] == [
        (3, 20, 3.5, 0.5),
        (4, 20, 3.9, None),
        (5, 40, None, None),
    ]
    assert found[1].series.startswith("eval ")


def test_a_head_line_gives_its_step_to_the_indented_line_below():
    (point,) = read(
        "[run7][model.yaml][Step 5000 / 9000]", "\t\tloss: 0.61, lr: 0.0002 time: 0.91, eta: 2:11"
    )
    assert (point.step, point.total_steps, point.loss, point.step_seconds) == (
        5000,
        9000,
        0.61,
        0.91,
    )


@pytest.mark.parametrize(
    "lines",
    [
        ("error: *** STEP 48151.0 ON gpu-3 CANCELLED AT 2026-03-04T11:12:13 ***", "  loss is nan"),
        ("srun: Job step 48151 created", "  loss is nan"),
        ("step 48151", '  File "a.py", line 3, in f', "    raise ValueError('loss is nan')"),
    ],
)
def test_a_step_of_slurm_and_a_source_line_are_no_block_of_metrics(lines):
    assert read(*lines) == ()


def test_a_restart_shows_as_a_falling_step():
    found = read(megatron(500, ""), megatron(400, ""))
    assert [p.step for p in found] == [500, 400]


# Bounds


def test_lines_of_prose_about_steps_do_not_exhaust_the_reader():
    prose = (f"step by step {'x' * (n % 97)}{n} we go" for n in range(4000))
    found = read(*prose, "step 5/90 loss: 2.0 lr: 0.1")
    assert [p.loss for p in found if p.loss] == [2.0]


def test_a_million_blanks_before_a_number_are_passed_over_at_once():
    assert Shape((" " * 1_000_000, "] loss ", "")).step == 0
    assert Shape((" " * 1_000_000, "! loss ", "")).step == -1


def test_points_are_bounded_over_many_series():
    reader = SeriesReader(limit=400)
    for number in range(1, 6001):
        name = f"{chr(97 + number % 20)}"
        reader.feed(
            0, number, f"{name} step {number} loss: {number}.0 lr: 0.1", rank=None, time=None
        )
    found = reader.points()
    assert len({p.series for p in found}) == 20
    assert len(found) <= 800


@given(st.lists(st.text(max_size=200), max_size=6))
def test_no_text_makes_the_reader_fail(lines):
    read(*lines)


PIECES = st.sampled_from(
    [
        *(
            "loss",
            "step",
            "iter",
            "epoch",
            "%|",
            "|",
            ": ",
            "=",
            "/",
            " ",
            "{'",
            "': ",
            ",",
            "[",
            "]",
        ),
        *("nan", "inf", "1e999", "-2", "3,000", "0.5", "99999999999999999999", "grad_norm", "ms"),
        *("s/it", "\t", "val_", "np.float64(", ")", "lr", ":::MLLOG ", '"key": "tracked_stats"'),
    ]
)


@given(st.lists(st.lists(PIECES, max_size=24).map("".join), max_size=8))
def test_no_heap_of_metric_words_makes_the_reader_fail(lines):
    for point in read(*lines):
        assert point.step is None or point.step >= 0
        assert point.step_seconds is None or point.step_seconds >= 0
        if point.total_steps is not None:
            assert point.step is not None
            assert point.step <= point.total_steps


@given(st.lists(st.lists(PIECES, max_size=24).map("".join), max_size=8))
def test_points_stand_in_order_of_file_and_line(lines):
    places = [(p.file, p.number) for p in read(*lines)]
    assert places == sorted(places)


def test_a_bar_may_count_batches_by_two_letters():
    bar = "train  Epoch  0:   50%|##   | 45/90 [03:36<03:36,  4.80s/ba, loss/train/total=2.5]"
    found = read(bar, bar.replace("4.80s/ba", "2.10ba/s").replace("45/90", "46/90"))
    assert [(p.step, p.total_steps, p.loss) for p in found] == [(45, 90, 2.5), (46, 90, 2.5)]


def test_a_rank_is_no_progress():
    found = read("INFO [train.py:88] (0/8) Epoch 3, batch 50, loss[loss=0.2, frames=90]")
    assert found[0].total_steps is None
