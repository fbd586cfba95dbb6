"""The answer on a terminal: a real one, since colours and width depend on it."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.page import clipped, printable
from tests.cli.running import ROOT, SHOWCASE, STORIES, Command


def _on_terminal(firstfault: Command, log: Path, **more: str) -> str:
    ours, theirs = pty.openpty()
    environment = {
        "PATH": os.environ["PATH"],
        "FIRSTFAULT_CACHE_DIR": str(firstfault.cache),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "COLUMNS": "100",
        **more,
    }
    running = subprocess.Popen(
        [sys.executable, "-m", "app.cli.main", "diagnose", str(log)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux says EIO when the other end is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert running.wait(timeout=60) == 0
    return said.decode().replace("\r\n", "\n")


def test_a_terminal_is_given_colours_and_no_line_is_wider_than_it(firstfault: Command) -> None:
    told = _on_terminal(firstfault, SHOWCASE)
    assert "\033[1mCUDAError\033[0m" in told
    answer = told[told.index("\033[1mCUDAError") :]  # a bar may have been drawn above it
    plain = answer.replace("\033[0m", "").replace("\033[1m", "").replace("\033[2m", "")
    assert max(map(len, plain.replace("\033[1;32m", "").split("\n"))) <= 100


def test_colours_are_left_out_where_they_are_not_wanted(firstfault: Command) -> None:
    for wish in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\nCUDAError · " in "\n" + _on_terminal(firstfault, SHOWCASE, **wish)


def test_earlier_attempts_are_told_below_the_verdict_of_the_last(firstfault: Command) -> None:
    log = STORIES / "KeyError" / "preempted_once_then_a_missing_source.log"
    told = firstfault("diagnose", log).out
    assert told.startswith("KeyError")
    assert "Earlier attempts\n  1. Preempted, lines 1-" in told


def test_a_command_in_a_step_is_never_folded(firstfault: Command) -> None:
    log = STORIES / "NodeFailure" / "gpu_off_the_bus_shows_only_in_dmesg.log"
    told = firstfault("diagnose", log, COLUMNS="60").out
    assert all(line.count("`") % 2 == 0 for line in told.split("\n"))


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("short", "short"),
        ("0123456789ab", "0123456789ab"),
        ("a line that is longer", "a line …nger"),
        ("한국어로 쓴 아주 긴 줄", "한국어… 줄"),
    ],
)
def test_a_long_text_keeps_its_two_ends(text: str, cut: str) -> None:
    assert clipped(text, 12) == cut


def test_what_does_not_print_is_replaced() -> None:
    assert printable("a\tb\x1b[2Jc\u202ed") == "a b�[2Jc�d"
