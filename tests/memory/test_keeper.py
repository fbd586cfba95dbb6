"""The process that owns memory, asked as workers ask it."""

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from app.errors import StoreError
from app.incident import Snippet
from app.memory.folder import index_folder, mark_of
from app.work import keeper, keeping
from app.work.keeping import Keeping
from app.work.recall import Recall
from tests.memory.past import FAILURES, Past

ECC = Snippet((FAILURES["ECCError"],))


@contextlib.contextmanager
def kept(past: Past, folder: Path, **chosen):
    told = {"chroma_url": None, "embedder": "hashing", "most": 1000, **chosen}
    found = Keeping(past.url, folder, **told)
    try:
        yield found
    finally:
        found.close()


def answering(keeping, seconds=60.0):
    """Wait until the keeper has taken everything in."""
    recall = Recall(keeping.socket, 30)
    end = time.monotonic() + seconds
    while True:
        try:
            recall.catch_up()
            return recall
        except StoreError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def test_it_answers_over_its_socket_and_says_what_is_wrong_with_a_question(past, tmp_path):
    for cause in FAILURES:
        past.add(cause)
    with kept(past, tmp_path / "memory") as keeper:
        recall = answering(keeper)
        found = recall.nearest(ECC)
        assert (found.precedents[0].cause, found.note) == ("ECCError", None)
        assert recall.search("bus error", 1).precedents[0].cause == "DataloaderKilled"
        with pytest.raises(StoreError, match="names"):
            recall._ask({"do": "nearest", "most": 1, "lines": "text"})


def test_what_nobody_foresaw_ends_no_looking_for_what_is_new(monkeypatch):
    looks = []

    class Broken:
        def catch_up(self) -> None:
            looks.append(1)
            raise ZeroDivisionError if len(looks) < 3 else KeyboardInterrupt

    monkeypatch.setattr(keeper, "_LOOK_SECONDS", 0)
    with capture_logs() as told, pytest.raises(KeyboardInterrupt):
        keeper._look(Broken())
    assert len(looks) == 3
    assert [line["log_level"] for line in told] == ["warning"]


def test_nobody_waits_for_a_keeper_that_is_not_there_or_too_slow(past, tmp_path):
    began = time.monotonic()
    found = Recall(tmp_path / "nowhere", 5).nearest(ECC)
    assert found.precedents == ()
    assert found.note.startswith("past incidents cannot be asked")
    with kept(past, tmp_path / "memory") as keeper:
        answering(keeper)
        os.kill(keeper._process.pid, signal.SIGSTOP)
        found = Recall(keeper.socket, 0.2).nearest(ECC)
        assert "not found in time" in found.note
        os.kill(keeper._process.pid, signal.SIGCONT)
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("spoilt", ["chroma.sqlite3", "data_level0.bin", "header.bin"])
def test_an_index_that_was_spoilt_is_filled_again_even_if_chroma_crashes_on_it(
    past, tmp_path, monkeypatch, spoilt
):
    monkeypatch.setattr(keeping, "_GLANCE_SECONDS", 0.1)
    monkeypatch.setattr(keeping, "_PATIENCE", (0.1,))
    # from 1000 on Chroma writes its graph to the disk
    past.add_many("KeyError", [f"KeyError: {number:b}" for number in range(1100)])
    for cause in FAILURES:
        past.add(cause)
    folder = index_folder(tmp_path / "memory")
    with kept(past, tmp_path / "memory") as keeper:
        answering(keeper)
    for path in folder.rglob(spoilt):
        path.write_bytes(os.urandom(path.stat().st_size))

    async def mended():
        with kept(past, tmp_path / "memory") as keeper:
            chore = asyncio.create_task(keeper.keep())
            recall = await asyncio.to_thread(answering, keeper)
            found = await asyncio.to_thread(recall.nearest, ECC)
            chore.cancel()
            return found

    found = asyncio.run(mended())
    assert (found.precedents[0].cause, found.note) == ("ECCError", None)
    assert folder.with_name("chroma.broken").is_dir()
    assert not mark_of(folder).exists()


def test_it_takes_no_program_of_the_present_folder_for_ours(past, tmp_path, monkeypatch):
    (tmp_path / "app.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    past.add("ECCError")
    with kept(past, tmp_path / "memory") as keeper:
        assert answering(keeper).nearest(ECC).precedents[0].cause == "ECCError"


def test_two_keepers_never_share_a_folder(past, tmp_path, monkeypatch):
    monkeypatch.setattr("app.work.keeper._PATIENCE_SECONDS", 0)
    from app.work.keeper import index_of

    with kept(past, tmp_path / "memory") as keeper:
        answering(keeper)
        with pytest.raises(StoreError, match=f"pid {keeper._process.pid}"):
            index_of(tmp_path / "memory", None)


def test_it_ends_when_its_service_is_gone(past, tmp_path):
    with kept(past, tmp_path / "memory") as keeper:
        answering(keeper)
        keeper._process.stdin.close()
        assert keeper._process.wait(10) == 0
