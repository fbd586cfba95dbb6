"""What the words around a number in a metric line say of it.

Some fifty frameworks name the same seven quantities in their own ways. Each pattern here is laid
over the few words before a number (in lower case, digits masked by `#`) or over the unit behind
it, never over a whole line, and each stands below a line as a framework prints it.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Role = Literal[
    "step",
    "goal",
    "epoch",
    "loss",
    "policy_loss",
    "eval_loss",
    "other_loss",
    "grad_norm",
    "loss_scale",
    "seconds",
    "rate",
    "skipped",
    "pace",
    "reward",
    "divergence",
    "entropy",
]


@dataclass(frozen=True, slots=True)
class Meaning:
    """The quantity a number gives; of several for one quantity the heaviest counts.

    A duration divided by `divisor` is in seconds.
    """

    role: Role
    weight: int = 1
    divisor: float = 1.0


# iter 3010: loss 2.31 | loss/train/total: 2.18 | loss train (curr): 1.199 | lm loss value: 2.3
_LOSS = re.compile(
    r"^(.*?)loss(?:es)?"
    r"(?:[/_. ](?:train(?:ing)?|total|step|avg|mean|per[_ ]token|policy|policy_avg))*"
    r"(?: \((?:curr|current|train|training)\))?$"
)
# actor/pg_loss:-0.016 | 'policy_loss': 0.004 | 'loss/policy_avg': 0.0009
_POLICY = re.compile(r"(?:^|[/_ ])(?:policy|pg|actor|ppo)[_ /]loss$|^loss/policy(?:_avg)?$")
# epoch 0 step 42/4338  ce 0.2136 | train/lm_ce: 2.31 | val_nll | ppl: 8.41 | bits/tok 2.66 | L=1.9
_LOSS_BY_NATURE = re.compile(
    r"cost$|(?:.* )?l$|(?:[a-z]+[_/. -]){0,3}(?:ce|nll|xent|cross[_ -]?entropy|mlm|bpb|bpc|"
    r"mse|objective|l_total|bits?(?:[/_-]| per )(?:token|tok|byte|char|dim)s?|(ppl|perplexity))"
    r"(?:[_/. -](?:train|step|avg|mean))?$"
)
# val_loss=2.31 | eval loss at step | valid loss at iteration
_EVAL = re.compile(
    r"(?:^|[^a-z])(?:val|valid|validation|eval|evaluation|test|dev|cv|heldout)(?![a-z])"
)
# avg. eval loss at step 15100: 2.2240
_LOSS_AT = re.compile(r"^(.*loss) (?:at|after|for|on) (?:step|iteration|iter|epoch)$")
# load_balancing_loss: 1.0 | lbox: 2.9 | 'loss/value_avg': 0.15 | actor/kl_loss:0.008 | mtp_1 loss
_AUXILIARY = re.compile(
    r"balanc|(?<!cross)(?<!cross.)entropy|zloss|(?:^|[^a-z])(?:aux|auxiliary|bbox|box|cls|obj|dfl|"
    r"value|vf|critic|kl|kld|z|mtp|router|moe|reg|rpn|mask|disc|gan|adv|commit|commitment|weight)"
    r"(?![a-z])"
)
# average_loss : 9.91 | avg loss 2.3
_AVERAGE = re.compile(r"(?:^|[^a-z])(?:average|avg|mean|running|smoothed|ema|epoch)(?![a-z])")
# 'final_loss': 0.0 | best loss 2.31 | (prev loss 2.3)
_SUMMARY = re.compile(
    r"(?:^|[^a-z])(?:final|best|min|max|lowest|last|prev|initial|target)(?![a-z])"
)
_MAIN_LOSSES = {
    "reduced_train": 110,
    "": 100,
    "train": 99,
    "training": 99,
    "train loss/train/": 98,
    "lm": 96,
    "total": 95,
    "train/total": 95,
    "step": 94,
    "train/lm": 93,
    "train/crossentropy": 93,
}

# global_step: 14 | "global_step/max_steps": "10/273" | num_updates=54300 | Iter(train) [ 510/2046]
_STEP = re.compile(
    r"^(.*?)(?<![a-z])(global[ _-]?steps?(?:/max_steps)?|num_updates|steps_completed|"
    r"current_steps|step|iteration|iter|it|upd|update|(?:end of )?batch|episode)(?:\(train\)| at)?$"
)
_STEP_WEIGHTS = {
    "num_updates": 50,
    "steps_completed": 50,
    "current_steps": 50,
    "step": 40,
    "iteration": 30,
    "iter": 30,
    "it": 25,
    "upd": 25,
    "update": 25,
}
# max_steps 1000 | timing_s/step:121.0 | micro_step=40 | Saved a checkpoint at step | per iteration
_NOT_STEP = re.compile(
    r"(?<![a-z])(?:(?:max|total|num)(?:[ _]train(?:ing)?)?|n|warm-?up|per|every|each|accum\w*|"
    r"micro|mini|global_batch|skipped|nan|time|timing_s|secs?|s|save|saved|log|logging|ckpt|"
    r"checkpoint|last|init|start|stop|end|best|resume|resumed|resuming|eval|decay|profile|async)"
    r"[ _/-]*(?:(?:at|from|for) )?$"
)
# max_iters = 2000 | Total optimization steps = 300 | setting training iterations to 600 |
# Config param steps: 500
_GOAL = re.compile(
    r"(?:^|[^a-z_])(?:(?:max|total|num|n)[ _-](?:train(?:ing)?[ _-])?"
    r"(?:(?:optimization|optimizer|update)[ _-])?(?:steps?|iters?|iterations|updates?)|"
    r"train(?:ing)?[ _-](?:steps|iters|iterations)(?: to)?|config param steps)$"
)
# Epoch 1/200, | Ep 1 | epoch 012: | Epoch(train) [12][ 250/7330]
_EPOCH = re.compile(r"(?:^|[^a-z])(?<!max_)(?<!num_)(?:epoch|ep)(?:\((?:train|val|test)\))?$")

# grad norm: 0.140 | gnorm=13.9 | gn=0.34 | gradient-norm 20.0672 | optim/total_grad_norm=0.2101
_GRAD_NORM = re.compile(
    r"^(.*?)(?:(?:grad|gradient|gradients)\.?[ _/-]*norm|gnorm|(?<![a-z])gn|l#_norm/grad)"
    r"(?:/global|/total)?$"
)
_NOT_GRAD_NORM = re.compile(r"(?<![a-z])(?:max|clip|critic|clipped)[ _/-]*$|\..*\.")
# loss scale: 1.0 | Attempted loss scale: 65536 | PARAMETER loss_scale : 32768.0
_LOSS_SCALE = re.compile(r"(?<![a-z])(attempted )?loss[ _-]scale( to)?$")
_NOT_LOSS_SCALE = re.compile(r"(?<![a-z])(?:min|max|init|initial|dynamic)[ _-]loss")
# Attempted loss scale: 65536, reducing to 32768
_NEW_SCALE = re.compile(r"(?<![a-z])reducing to$")

# elapsed time per iteration (ms): 5402.1 | train_step_timing in s: 71.2 | timing_s/step:121.0
_STEP_TIME = re.compile(
    r"(?:^|[^a-z])(?:time[ _]per[ _](?:iteration|iter|step)|(?:iteration|iter|step|train)[ -]time|"
    r"(?<!optim_)(?:iteration|step)_time|time/step|timing_s/step|train_step_timing in s|step_avg|"
    r"(?:train|perf)/time|batch \(t\))(?: ?\((?:ms|s)\))?$"
)
# time: 22.5450 | completed step: 20305, seconds: 5.643 | dt: 1234.5ms
_TIME = re.compile(r"^(?:time|seconds|dt)(?: ?\((?:ms|s)\))?$")
# Train 1792 in 4.38seconds
_TOOK = re.compile(r"(?:^| )in$")
# It/sec 0.933 | global_step/sec: 0.549 | interval_steps_per_second: 0.38 | train_speed(iter/s)
_RATE = re.compile(
    r"(?:^|[^a-z])(?:(?:it|iter|steps?|iterations|global_step)/s(?:ec)?\)?|"
    r"(?:steps|batches|iterations)_per_sec(?:ond)?|ups)$"
)
# 1019.95ms, | 4.61s/it, | 28.823 sec | | (20.205 sec/step)
_UNIT = re.compile(
    r"\s?(ms|secs?|seconds|s)(?![a-z])(\s?/\s?(?:it|iter|iteration|step|batch)(?![a-z]))?"
)
# 1.9it/s, | 2.4 steps/sec
_RATE_UNIT = re.compile(r"\s?(?:it|iters?|steps?|batches)/s(?:ec)?(?![a-z])")
# number of skipped iterations:   0 | number of nan iterations:   0
_SKIPPED = re.compile(r"(?:skipped|nan) iterations$")
# lr: 1.7e-04 | learning_rate : 0.0001 | tokens-per-second 72,759 | CurrSamplesPerSec=32.9
_PACE = re.compile(
    r"(?:^|[^a-z])(?:lr|tps|tgs|mfu|wps|tok/s)(?![a-z])|learning.rate|throughput|samples|tokens|flops"
)
# 2017.3 ex/s
_PACE_UNIT = re.compile(r"\s?(?:ex|examples|samples|seqs?|tok|tokens|records|images|img)/s")
# 'reward': 0.71 | critic/rewards/mean:0.58 | 'objective/scores': 1.63
_REWARD = re.compile(r"(?:^|[^a-z])(?:rewards?|objective/scores|critic/score/mean)(?![a-z])")
_PREFERENCE = re.compile(r"rewards/(?:chosen|rejected|accuracies|margins)")
# Mismatch KL: 0.0036 | 'objective/kl': 10.5
_DIVERGENCE = re.compile(r"(?:^|[^a-z])kl$")


@lru_cache(maxsize=4096)
def meaning(key: str, after: str) -> Meaning | None:
    """Say what a number gives whose words before it are `key` and behind it `after`.

    Both should be short: the answers are kept, since keys come again in one shape after another.
    """
    if key.endswith(".py"):
        return None
    if not _LOSS_AT.match(key) and ("loss" in key or key.endswith("reducing to")):
        return _of_scale(key) or _of_loss(key)
    nature = _LOSS_BY_NATURE.match(key)
    if nature:
        return _of_nature(key, is_perplexity=nature[1] is not None)
    found = _of_duration(key, after) or _of_progress(key) or _of_norm(key)
    if found is not None:
        return found
    if _SKIPPED.search(key):
        return Meaning("skipped")
    if _PREFERENCE.search(key):
        return None
    if _REWARD.search(key):
        return Meaning("reward")
    if _DIVERGENCE.search(key):
        return Meaning("divergence")
    if key.endswith("entropy") and "cross" not in key:
        return Meaning("entropy")
    if _PACE.search(key) or _PACE_UNIT.match(after):
        return Meaning("pace")
    return None


def _of_nature(key: str, *, is_perplexity: bool) -> Meaning:
    """A measure of what the model got wrong; the perplexity only tells where no loss does."""
    if _EVAL.search(key):
        return Meaning("eval_loss")
    if _SUMMARY.search(key) or _AUXILIARY.search(key):
        return Meaning("other_loss")
    return Meaning("loss", 10 if is_perplexity else 60)


def _of_scale(key: str) -> Meaning | None:
    if _NEW_SCALE.search(key):
        return Meaning("loss_scale", 5)
    match = _LOSS_SCALE.search(key)
    if match is None or _NOT_LOSS_SCALE.search(key):
        return None
    return Meaning("loss_scale", 5 if match[2] else 1 if match[1] else 3)


def _of_loss(key: str) -> Meaning:
    key = key.removesuffix(" value")
    match = _LOSS.search(key)
    if match is None or _SUMMARY.search(key):
        return Meaning("other_loss")
    if _POLICY.search(key):
        return Meaning("policy_loss", 120)
    if _EVAL.search(key):
        return Meaning("eval_loss")
    if _AUXILIARY.search(key):
        return Meaning("other_loss")
    weight = _MAIN_LOSSES.get(match[1].rstrip(" _-/"), 60)
    return Meaning("loss", 30 if _AVERAGE.search(key) else weight)


def _of_duration(key: str, after: str) -> Meaning | None:
    if _RATE_UNIT.match(after):
        return Meaning("rate", 3)
    if _RATE.search(key):
        return Meaning("rate", 2)
    unit = _UNIT.match(after)
    divisor = 1000.0 if (unit and unit[1] == "ms") or key.endswith("(ms)") else 1.0
    if unit and unit[2]:
        return Meaning("seconds", 4, divisor)
    if _STEP_TIME.search(key) or (key == "step" and unit):
        return Meaning("seconds", 3, divisor)
    if _TIME.search(key):
        return Meaning("seconds", 2, divisor)
    if unit and _TOOK.search(key):
        return Meaning("seconds", 1, divisor)
    return Meaning("seconds", 0, divisor) if unit and not key else None


def _of_progress(key: str) -> Meaning | None:
    if _EPOCH.search(key):
        return Meaning("epoch")
    match = _STEP.search(key)
    if match is None or _NOT_STEP.search(match[1]):
        return Meaning("goal") if _GOAL.search(key) else None
    word = match[2]
    weight = _STEP_WEIGHTS.get(word, 50 if word.startswith("global") else 10)
    return Meaning("step", weight)


def _of_norm(key: str) -> Meaning | None:
    if key == "norm":
        return Meaning("grad_norm", 1)
    match = _GRAD_NORM.search(key)
    if match is None or _NOT_GRAD_NORM.search(match[1]):
        return None
    return Meaning("grad_norm", 3 if match[1] in ("", "actor/", "train/", "total_") else 2)


def loss_at(key: str) -> str:
    """Name the loss of `eval loss at step`, whose value follows the step; else say nothing."""
    match = _LOSS_AT.match(key)
    return match[1] if match else ""


def is_eval(words: str) -> bool:
    """Say whether the words before a loss speak of an evaluation."""
    return _EVAL.search(words) is not None
