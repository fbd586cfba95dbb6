"""Logs that grow, are rotated, emptied, or end in the midst of a line."""

import os
import threading
import time
from contextlib import contextmanager

import pytest

from app.errors import SourceError, SourceNotFound
from app.read import follow
from app.read.follow import Following

QUIET = 0.4


def lines_of(following):
    """Read to the end; join the pieces of a long line as a reader of blocks does."""
    lines = []
    for block in following.blocks():
        first, *rest = block.data.tobytes()[block.repeated :].splitlines(keepends=True)
        if block.continues:
            lines[-1] += first
        else:
            lines.append(first)
        lines += rest
    return [line.decode().rstrip("\n") for line in lines]


@contextmanager
def meanwhile(*steps):
    """Do some things one after the other while the block reads."""

    def run():
        for step in steps:
            time.sleep(QUIET / 4)
            step()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def append(path, text):
    def write():
        with path.open("a") as file:
            file.write(text)

    return write


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "job.log"
    path.write_text("one\n")
    return path


def following(log, quiet=QUIET):
    return Following(log, quiet, poll_seconds=0.02)


def test_what_is_added_is_read_until_it_is_quiet(log):
    with meanwhile(append(log, "two\nthr"), append(log, "ee\nfour\n")):
        assert lines_of(following(log)) == ["one", "two", "three", "four"]


def test_a_line_that_nobody_ended_is_given_at_the_end(log):
    with meanwhile(append(log, "killed in the mid")):
        assert lines_of(following(log)) == ["one", "killed in the mid"]


def test_it_ends_at_once_when_told_to(log):
    reader = following(log, quiet=60)
    with meanwhile(append(log, "two\n"), reader.stop):
        assert lines_of(reader) == ["one", "two"]


def test_a_file_that_is_renamed_away_goes_on_in_its_successor(log):
    def rotate():
        append(log, "two\n")()
        os.rename(log, log.with_suffix(".1"))
        log.write_text("three\n")

    reader = following(log)
    with meanwhile(rotate, append(log, "four\n")):
        assert lines_of(reader) == ["one", "two", "three", "four"]
    assert reader.rotations == 1


def test_a_file_that_is_missing_for_a_while_is_waited_for(log):
    away = log.with_suffix(".1")
    with meanwhile(lambda: os.rename(log, away), append(log, "two\n")):
        assert lines_of(following(log)) == ["one", "two"]


def test_a_file_that_is_emptied_in_place_is_read_from_its_start(log):
    log.write_text("one\nand more\n")
    with meanwhile(lambda: log.write_text("new\n")):
        assert lines_of(following(log)) == ["one", "and more", "new"]


def test_a_file_that_comes_later_is_waited_for(tmp_path):
    late = tmp_path / "late.log"
    with meanwhile(append(late, "one\n")):
        assert lines_of(following(late)) == ["one"]


def test_an_endless_line_is_given_in_pieces_that_overlap(log, monkeypatch):
    monkeypatch.setattr(follow, "_LONGEST", 10_000)
    monkeypatch.setattr(follow, "_READ", 3_000)
    text = "".join(f"{n:07}" for n in range(8_000))
    log.write_text(f"one\n{text}\ntwo\n")
    assert lines_of(following(log, 0)) == ["one", text, "two"]
    assert max(len(block.data) for block in following(log, 0).blocks()) < 20_000


def test_a_file_that_never_comes_is_not_found(tmp_path):
    with pytest.raises(SourceNotFound):
        lines_of(following(tmp_path / "no.log"))


@pytest.mark.parametrize("data", [b"\x1f\x8b\x08", b"\x7fELF"])
def test_what_is_no_text_cannot_be_followed(log, data):
    log.write_bytes(data + bytes(200))
    with pytest.raises(SourceError, match="cannot be followed"):
        lines_of(following(log))


def test_a_folder_cannot_be_followed(tmp_path):
    with pytest.raises(SourceError):
        lines_of(following(tmp_path))
