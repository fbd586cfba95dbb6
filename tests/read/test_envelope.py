"""What a collector puts before every line, and what only looks like it."""

import pytest

from app.read.envelope import envelope, opened
from app.read.prefix import PrefixReader

SAID = [
    "loading 12 shards from /bulk/a",
    "UserWarning: the cache is cold",
    "[rank0]: Traceback (most recent call last):",
    '  File "/w/train.py", line 7, in main',
    "    main()",
    "KeyError: 'text'",
    "NCCL version 2.20.5",
    "2026-02-02 10:00:00 INFO model is built",
    "warming up",
    "step 10 loss 2.31",
    "step 20 loss 2.30",
    "peers: 8",
    "goodbye",
]


def learned(lines):
    return envelope(memoryview("".join(f"{line}\n" for line in lines).encode()))


def texts(before):
    lines = [before(place) + text for place, text in enumerate(SAID, 10)]
    around = learned(lines)
    return around and [line[around.end(line) :] for line in lines]


@pytest.mark.parametrize(
    "before",
    [
        lambda n: f"Mar 04 10:11:{n} node7 train.sh[8{n}]: ",
        lambda n: f"trainer|0]:{n} - ",
        lambda n: f"[2026-03-04, 10:11:{n} UTC] {{pod.py:431}} INFO - [base] ",
        lambda n: f"train-step-ab12-{n}: ",
        lambda n: f"[2026-03-04T10:11:{n}Z] 1a2b [rank=0] || ",
        lambda n: "> ",
    ],
)
def test_what_stands_before_each_line_is_learned(before):
    assert texts(before) == SAID


def test_a_line_that_came_without_it_is_left_whole():
    around = learned([f"(pod {n}) {text}" for n, text in enumerate(SAID)])
    assert around is not None
    assert around.end("oom-kill: task=python") == 0
    assert around.end("(pod 3)") == len("(pod 3)")


@pytest.mark.parametrize(
    "lines",
    [
        SAID,
        [f"step {n} of 900, loss {3 - n / 100:.2f}" for n in range(60)],
        [f"[{n}] ce {3 - n / 100:.2f} in {n % 7} s" for n in range(60)],
        [f"<{n}> Verlust {3 - n / 100:.2f} nach {n} s" for n in range(60)],
        [f"Epoch: [{n % 9}][{n}/900] Loss {3 - n / 100:.4f}" for n in range(60)],
        [f"步数 {n}/900  损失 {3 - n / 100:.2f}" for n in range(60)],
        [f"lm loss value: {3 - n / 100:.2f} at {n}" for n in range(60)],
        [f" {n}%|{'#' * (n // 9)}| {n}/100 [00:{n}<00:09, 2.00it/s]" for n in range(60)],
        ["Bus error (core dumped)"] * 20,
        [f"mlx5_core mlx5_3: Port: 1 Link {['DOWN', 'UP'][n % 2]}" for n in range(20)],
        [f"Verlust {n}: {'nan' if n > 50 else n / 100}" for n in range(60)],
        [f"[{n}]\ttrain-ce:{'nan' if n > 50 else n / 100}" for n in range(60)],
        [f"step = {n} ; ce = {n / 100}" for n in range(60)],
        [f"srun: error: n{n}: {text}" for n, text in enumerate(SAID)],
        [f"timeout of n{n}: {text}" for n, text in enumerate(SAID)],
        [f"W1201 10:00:{n}.123 77 a.py:1] {text}" for n, text in enumerate(SAID, 10)],
        [f"[{text}" for text in SAID],
        [f"host-{n}: {text}" for n, text in enumerate(SAID[:8])],
    ],
    ids=[
        "none",
        "steps",
        "bare",
        "value",
        "epochs",
        "tongue",
        "loss",
        "bars",
        "message",
        "flaps",
        "nan",
        "tree",
        "step",
        "failures",
        "waits",
        "warnings",
        "bracket",
        "few",
    ],
)
def test_what_lines_have_in_common_is_not_always_an_envelope(lines):
    assert learned(lines) is None


@pytest.mark.parametrize("before", ["(T pid=4) ", "[2026-03-04 10:11:12] (T pid=4) "])
def test_a_step_stays_with_its_word(before):
    lines = [f"{before}step:{n} - loss:{3 - n / 100:.2f}" for n in range(60)]
    around = learned(lines)
    assert around is not None
    assert lines[7][around.end(lines[7]) :].startswith("step:7 - loss")


def test_the_level_of_a_programs_own_logger_is_no_part_of_it():
    lines = [f"10:00:{n} INFO {text}" for n, text in enumerate(SAID[6:9] * 7, 10)]
    around = learned(lines)
    assert around is not None
    assert lines[0][around.end(lines[0]) :].startswith("INFO NCCL")


def test_the_clock_around_a_text_counts_and_its_rank_where_the_text_names_none():
    lines = [f"2026-03-04T10:11:{n}Z job [rank=3] || {text}" for n, text in enumerate(SAID, 10)]
    around = learned(lines)
    assert around is not None
    read = opened(PrefixReader(2026).read, PrefixReader(2026).read, around)
    own = read(lines[7])
    assert lines[7][own.end :] == "INFO model is built"
    assert own.time == pytest.approx(1772619077.0)
    assert read(lines[2]).rank == 0
