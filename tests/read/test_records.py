"""Logs that were packed into records, and records that are the log itself."""

import io
import json

import pytest

from app.read.records import unpacked

SAID = [
    "loading 12 shards",
    "Traceback (most recent call last):",
    '  File "/w/train.py", line 7, in main',
    "KeyError: 'text'",
    'said "no"\tand left',
    "",
    "Grüße",
]
WHEN = "2026-05-01T10:00:00.1Z"


def read(lines, size=1 << 16):
    reader = unpacked(io.BytesIO("".join(f"{line}\n" for line in lines).encode()))
    buffer = memoryview(bytearray(size))
    found = bytearray()
    while got := reader.readinto(buffer):
        found += buffer[:got]
    return found.decode().split("\n")[:-1]


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
@pytest.mark.parametrize(
    ("packed", "head"),
    [
        (lambda text: {"log": f"{text}\n", "stream": "stderr", "time": WHEN}, f"{WHEN} "),
        (lambda text: {"severity": "ERROR", "textPayload": text, "timestamp": WHEN}, f"{WHEN} "),
        (
            lambda text: {"@timestamp": WHEN, "kubernetes": {"pod_name": "llm-3"}, "log": text},
            f"[pod/llm-3] {WHEN} ",
        ),
        (
            lambda text: {"ts": 1777629600.5, "rank": 3, "host": "n7", "msg": text},
            "[pod/n7] 2026-05-01T10:00:00.500000Z [rank3]: ",
        ),
    ],
    ids=["docker", "cloud", "kubernetes", "ranks"],
)
def test_the_text_of_records_is_read_as_it_was_printed(packed, head, size):
    lines = [json.dumps(packed(text)) for text in SAID]
    assert [line.rstrip() for line in read(lines, size)] == [f"{head}{t}".rstrip() for t in SAID]


def test_logfmt_is_opened_too_with_or_without_escapes():
    lines = [f'time="{WHEN}" level=info msg={json.dumps(text)}' for text in SAID]
    assert [line.rstrip() for line in read(lines)] == [f"{WHEN} {text}".rstrip() for text in SAID]
    careless = [f'time="{WHEN}" level=info msg="{text}"' for text in SAID]
    assert read(careless)[4] == f'{WHEN} said "no"\tand left'


def test_levels_that_differ_are_told():
    levels = ["info", "error"] * 3
    lines = [json.dumps({"level": level, "msg": "tick"}) for level in levels]
    assert read(lines) == [f"{level.upper()} tick" for level in levels]


def test_a_line_stays_a_line():
    lines = [json.dumps({"log": "a\nb\n", "time": WHEN})] * 5
    assert read(lines) == [f"{WHEN} a\\nb"] * 5


@pytest.mark.parametrize(
    "lines",
    [
        SAID,
        [json.dumps({"msg": "step done", "step": n, "loss": 2.5}) for n in range(9)],
        [json.dumps({"step": n, "loss": 2.5}) for n in range(9)],
        [f"step={n} loss=2.5" for n in range(9)],
        ["{" * 3000, *(json.dumps([n]) for n in range(9))],
        [json.dumps({"log": "only four"})] * 4,
    ],
    ids=["plain", "fields", "metrics", "pairs", "no objects", "few"],
)
def test_what_is_no_packing_stays_as_it_is(lines):
    assert read(lines) == lines


def test_a_line_among_records_that_is_none_stays():
    lines = [json.dumps({"log": f"line {n}", "time": WHEN}) for n in range(40)]
    lines[20] = "oom-kill: task=python"
    assert read(lines)[20] == "oom-kill: task=python"
    assert read(lines)[21] == f"{WHEN} line 21"


def test_a_line_of_megabytes_is_left_as_it_is_and_the_next_is_opened():
    lines = [json.dumps({"log": f"line {n}"}) for n in range(2000)]
    lines.insert(1500, json.dumps({"log": "x" * (10 << 20)}))
    found = read(lines)
    assert found[1500] == lines[1500]
    assert found[1501] == "line 1500"
    assert len(found) == len(lines)
