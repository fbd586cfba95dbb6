"""A second look into the files, by numbers and by pattern."""

import gzip

import pytest

from app.read.original import Original
from app.read.source import Source, sources
from app.rulebook.pattern import parse


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "a.log"
    lines = [f"line {n} of the hall" for n in range(1, 5001)]
    lines[2999] = "\x1b[31mthe pump\x1b[0m of hall 7 leaks"
    path.write_text("\n".join(lines) + "\n")
    return path


def look(path, **more):
    return Original(sources([path]), 1 << 30, 20.0, **{"block_bytes": 1 << 14, **more})


def test_a_window_gives_the_lines_between_two_numbers_without_colours(log):
    found = look(log).window(0, 2999, 3001)
    assert [(line.number, line.text) for line in found] == [
        (2999, "line 2999 of the hall"),
        (3000, "the pump of hall 7 leaks"),
        (3001, "line 3001 of the hall"),
    ]


def test_a_window_past_the_end_is_empty(log):
    assert look(log).window(0, 6000, 6010) == []


def test_a_search_gives_the_first_and_last_lines_and_counts_all(log):
    found, count = look(log).search(0, parse(r"of the hall$"), 4)
    assert count == 2000  # more are not looked for
    assert [line.number for line in found[:2]] == [1, 2]
    assert len(found) == 4


def test_a_pattern_never_reaches_over_a_line(log):
    found, count = look(log).search(0, parse(r"line 12[^x]*hall 7"), 9)
    assert (found, count) == ([], 0)


def test_a_line_without_an_end_and_packed_files_are_searched_too(tmp_path):
    path = tmp_path / "b.log.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\nthe pump leaks"))
    found, count = look(path).search(0, parse("pump leaks"), 9)
    assert [(line.number, line.text) for line in found] == [(3, "the pump leaks")]
    assert count == 1


def test_a_line_longer_than_a_block_counts_once(tmp_path):
    path = tmp_path / "c.log"
    path.write_bytes(b"first\n" + b"x" * 100_000 + b"\nthe pump leaks\n")
    original = look(path)
    assert original.search(0, parse("pump leaks"), 9)[0][0].number == 3
    assert original.window(0, 3, 3)[0].text == "the pump leaks"


def test_of_a_bar_that_was_drawn_a_thousand_times_the_last_state_is_found(tmp_path):
    path = tmp_path / "bar.log"
    states = [
        f"train {n // 10}%|###| {n}/1000 [00:{n % 60:02}<00:10, loss=2.1]" for n in range(999)
    ]
    path.write_text("\r".join([*states, "train 75%|###| 750/1000 [01:00<00:10, loss=nan]"]) + "\n")
    found = look(path, block_bytes=1 << 20).window(0, 1, 1)
    assert any("loss=nan" in line.text for line in found)


def test_what_cannot_be_read_again_holds_nothing(tmp_path):
    gone = Original([Source("stdin"), Source("x", tmp_path / "gone.log")], 1 << 30, 1.0)
    assert gone.window(0, 1, 9) == []
    assert gone.search(1, parse("pump leaks"), 9) == ([], 0)
