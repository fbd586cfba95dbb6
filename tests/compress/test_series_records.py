"""One invented line for each form of dict, table, bar and RL report, and what is read from it."""

import pytest

from tests.compress.series_reading import INF, NAN, agrees, read

# name, lines, and of the last point: series, step, total, loss, grad norm, loss scale, seconds
FORMATS = [
    (
        "HF Trainer with its bar",
        "  2%|▏         | 30/1800 [02:05<2:03:01, 4.17s/it]\n"
        "{'loss': 1.7731, 'grad_norm': 1.88, 'learning_rate': 9.1e-06, 'epoch': 0.05}",
        ("loss", 30, 1800, 1.7731, 1.88, None, None),
    ),
    (
        "HF Trainer, quoted numbers",
        "{'loss': '0.88', 'grad_norm': 'nan', 'learning_rate': '2e-05', 'epoch': '0.4'}",
        ("loss", None, None, 0.88, NAN, None, None),
    ),
    (
        "trl DPO",
        "{'loss': 0.6012, 'rewards/chosen': 0.21, 'rewards/rejected': -0.44, 'rewards/margins': "
        "0.65, 'grad_norm': 3.1, 'epoch': 0.2}",
        ("loss", None, None, 0.6012, 3.1, None, None),
    ),
    (
        "trl PPO",
        "{'eps': 1, 'objective/kl': 7.1, 'objective/scores': 1.1, 'loss/policy_avg': 0.0012, "
        "'loss/value_avg': 0.31, 'lr': 3e-06, 'episode': 512, 'epoch': 0.4}",
        ("rl loss/policy_avg", 512, None, 0.0012, None, None, None),
    ),
    (
        "ms-swift",
        '{"loss": -3.1e-05, "grad_norm": 0.077, "reward": 0.64, "kl": 0.0003, '
        '"global_step/max_steps": "14/410", "elapsed_time": "0h 21m 4s", '
        '"train_speed(iter/s)": 0.004}',
        ("rl loss", 14, 410, -3.1e-05, 0.077, None, 250.0),
    ),
    (
        "JSON lines",
        '{"ts": 1750000123.250, "step": 70, "loss": 2.91150, "grad_norm": 0.5400, "lr": 3.1e-06}',
        ('"step":#', 70, None, 2.9115, 0.54, None, None),
    ),
    (
        "MLPerf",
        ':::MLLOG {"namespace": "", "time_ms": 1720000760344, "event_type": "POINT_IN_TIME", "key":'
        ' "tracked_stats", "value": {"train_loss": 1.55}, "metadata": {"samples_count": 960}}',
        ("mllog tracked_stats", 960, None, 1.55, None, None, None),
    ),
    (
        "MLPerf train_loss",
        ':::MLLOG {"namespace": "", "time_ms": 1720000760344, "event_type": "POINT_IN_TIME", "key":'
        ' "train_loss", "value": 1.61, "metadata": {"samples_count": 480, "lineno": 88}}',
        ("mllog train_loss", 480, None, 1.61, None, None, None),
    ),
    (
        "Lightning CSVLogger",
        "epoch,grad_norm,lr-AdamW,step,train_loss_epoch,train_loss_step,val_loss\n"
        "0,,0.0003,49,,,\n0,0.71,,49,,3.118,",
        ("csv train_loss_step", 49, None, 3.118, 0.71, None, None),
    ),
    (
        "Lightning CSVLogger, validation row",
        "epoch,grad_norm,lr-AdamW,step,train_loss_epoch,train_loss_step,val_loss\n0,,,99,,,nan",
        ("eval csv val_loss", 99, None, NAN, None, None, None),
    ),
    (
        "aligned columns",
        "   iter     loss      ema    gnorm       lr    tok/s\n"
        "    120   3.3455   3.3500    0.511 2.99e-04   182033",
        ("aligned loss", 120, None, 3.3455, 0.511, None, None),
    ),
    (
        "aligned columns, a sentence below",
        "  iter    loss   gnorm    lr\n   120  3.3455   0.511 3e-4\n4000 iterations in 6 h 11 min",
        ("aligned loss", 120, None, 3.3455, 0.511, None, None),
    ),
    (
        "ruled columns",
        "|  epoch |  train loss |  valid loss |  acc@1 |\n|---|---|---|---|\n"
        "|   7/12 |      0.6549 |      0.7230 | 90.4% * |",
        ("ruled train loss", 7, 12, 0.6549, None, None, None),
    ),
    (
        "ruled columns, no number",
        "| it | ce | lr |\n|---|---|---|\n| 300 | nan | 1.2e-04 |",
        ("ruled ce", 300, None, NAN, None, None, None),
    ),
    (
        "the number of steps stands in the configuration",
        "max_iters = 2000\neval_interval = 500\niter 1990: loss 3.21\niter 2000: loss 3.17",
        ("iter #", 2000, 2000, 3.17, None, None, None),
    ),
    (
        "the number of steps is a parameter by itself",
        "Config param steps: 500\ncompleted step: 498, loss: 3.2\ncompleted step: 499, loss: 3.1",
        ("completed step:#", 499, 499, 3.1, None, None, None),
    ),
    (
        "the number of steps stands among settings",
        "Config(lr=0.001, steps=300, seed=1)\ntrain step 299 loss 3.21\ntrain step 300 loss 3.17",
        ("train step #", 300, 300, 3.17, None, None, None),
    ),
    (
        "the number of steps is a flag",
        "python t.py --lr 3e-4 --train-iters 300 --save 50\nstep 300 loss 3.17",
        ("step #", 300, 300, 3.17, None, None, None),
    ),
    (
        "updates and cross entropy by their short names",
        "upd=40 xent=3.2110 ups=2.1",
        ("upd=# xent", 40, None, 3.211, None, None, 1 / 2.1),
    ),
    (
        "a batch that is counted beside a loss",
        "worker0 | batch 12 | loss 1.2110",
        ("worker# | batch #", None, None, 1.211, None, None, None),
    ),
    (
        "steps from 0 on, one in ten told",
        "setting training iterations to 30\nstep 0 loss 3.2\nstep 10 loss 3.1\nstep 20 loss 3.0",
        ("step #", 20, 20, 3.0, None, None, None),
    ),
    (
        "tqdm with postfix",
        "Epoch 0:  40%|████      | 200/500 [05:00<07:30, 1.50s/it, loss=2.44, lr=1.0e-4]",
        ("epoch # bar loss", 200, 500, 2.44, None, None, 1.5),
    ),
    (
        "Keras",
        "  12/800 [..............................] - ETA: 41s - loss: nan - accuracy: 0.5311",
        ("bar of 800 loss", 12, 800, NAN, None, None, None),
    ),
    (
        "Keras, end of an epoch",
        "800/800 [==============================] - 22s 27ms/step - loss: 0.64 - val_loss: 0.70",
        ("bar of 800 loss", 800, 800, 0.64, None, None, 0.027),
    ),
    (
        "OpenRLHF",
        "✨ Global step 41: {'policy_loss': -0.011, 'kl': 0.0031, 'reward': 0.55, 'return': 0.02, "
        "'response_length': 410.7}",
        ("rl ✨ global step #", 41, None, -0.011, None, None, None),
    ),
    (
        "verl",
        "step:17 - actor/entropy:0.402 - actor/kl_loss:0.011 - actor/pg_loss:-0.021 - "
        "actor/grad_norm:0.301 - actor/lr:1.000e-06 - critic/score/mean:0.480 - "
        "response_length/mean:611.2 - timing_s/step:98.5",
        ("rl step:#", 17, None, -0.021, 0.301, None, 98.5),
    ),
    (
        "verl, wrapped numbers",
        "step:18 - actor/pg_loss:np.float64(nan) - actor/grad_norm:np.float64(0.297) - "
        "timing_s/step:np.float64(97.5)",
        ("rl step:#", 18, None, NAN, 0.297, None, 97.5),
    ),
    (
        "verl SFT",
        "step:44 - train/loss:1.05 - train/grad_norm:0.41 - train/lr:8.2e-06 - train/time(s):3.05",
        ("step:#", 44, None, 1.05, 0.41, None, 3.05),
    ),
]


@pytest.mark.parametrize(
    ("text", "wanted"), [pytest.param(text, wanted, id=name) for name, text, wanted in FORMATS]
)
def test_the_form_is_read(text, wanted):
    point = read(text)[-1]
    assert agrees(point, wanted), point


def test_engine_lines_of_a_rollout_worker_are_no_steps():
    assert not read(
        "INFO 07-02 05:11:00 [loggers.py:116] Engine 000: Avg prompt throughput: 12.0 tokens/s, "
        "Avg generation throughput: 310.4 tokens/s, Running: 9 reqs, Waiting: 0 reqs"
    )


def test_the_summary_of_wandb_is_no_reading():
    assert not read("wandb:        loss nan")
    assert not read("       loss nan")


def test_a_configured_number_that_is_not_reached_says_nothing():
    point = read("max_iters = 2000\niter 1200: loss 3.21\niter 1210: loss 3.17")[-1]
    assert point.total_steps is None


def test_prose_that_speaks_of_step_and_loss_is_no_table():
    assert read("the loss of each step follows\n1 2 3\n4 of 5 are loaded, 6 are not") == ()


@pytest.mark.parametrize(
    ("told", "loss"),
    [
        ("NaN32", NAN),
        ("1.#QNAN", NAN),
        ("-1.#IND00", NAN),
        ("1.#INF", INF),
        (".nan", NAN),
        ("Array(nan, dtype=float32)", NAN),
        ("tf.Tensor(inf, shape=(), dtype=float32)", INF),
        ("<tf.Tensor: shape=(), dtype=float32, numpy=2.5>", 2.5),
        ("mx.array(2.5, dtype=float32)", 2.5),
    ],
)
def test_what_is_no_number_is_read_as_each_language_prints_it(told, loss):
    (point,) = read(f"step: 20 loss: {told}")
    assert point.step == 20
    assert point.loss == pytest.approx(loss, nan_ok=True)


@pytest.mark.parametrize(
    ("text", "step", "loss"),
    [
        ("avg loss over last 10 steps: 2.5 (step 20)", 20, 2.5),
        ("step 20: average loss for the last 100 batches 2.5", 20, 2.5),
        ("第 20 步, 损失=2.5", 20, 2.5),
    ],
)
def test_the_loss_of_some_steps_and_the_step_that_stands_before_its_name(text, step, loss):
    (point,) = read(text)
    assert (point.step, point.loss) == (step, loss)
