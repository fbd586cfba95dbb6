import gc
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from chromadb.api.shared_system_client import SharedSystemClient

from app.errors import UsageError
from app.incident import Snippet
from app.memory import chroma
from app.memory import index as whole
from app.memory.chroma import embedded, served
from app.memory.embed import HashingEmbedder
from app.memory.index import GONE, IndexBroken, IndexGone
from tests.memory.past import FAILURES

SPACE = "hashing-1-512"


@pytest.fixture(autouse=True)
def forgetful():
    """Chroma keeps its clients by path while the process lives, and never ends connections."""
    yield
    SharedSystemClient.clear_system_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def rows(count):
    made = np.random.default_rng(7).normal(size=(count, 16)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_what_was_added_is_found_after_the_folder_is_opened_again(tmp_path):
    vectors = rows(1500)  # from 1000 on Chroma writes its graph to the disk
    ids = [f"in_{number}" for number in range(len(vectors))]
    embedded(tmp_path / "chroma", SPACE).add(ids, vectors)
    SharedSystemClient.clear_system_cache()
    again = embedded(tmp_path / "chroma", SPACE)
    assert again.ids() == set(ids)
    assert again.nearest(vectors[77], 3)[0] == "in_77"
    assert embedded(tmp_path / "chroma", "another-space").ids() == set()


def test_a_folder_whose_opening_did_not_end_is_put_aside(tmp_path):
    embedded(tmp_path / "chroma", SPACE).add(["in_1"], rows(1))
    SharedSystemClient.clear_system_cache()
    (tmp_path / "chroma.opening").touch()
    assert embedded(tmp_path / "chroma", SPACE).ids() == set()


def test_a_folder_that_cannot_be_written_is_told_as_broken(tmp_path):
    (tmp_path / "chroma").write_text("a file is in the way")
    with pytest.raises(IndexBroken):
        embedded(tmp_path / "chroma", SPACE).ids()


def test_a_file_in_the_way_is_put_aside_and_is_in_no_ones_way_there(tmp_path):
    (tmp_path / "chroma").write_text("a file is in the way")
    embedded(tmp_path / "chroma", SPACE).begin_anew()
    SharedSystemClient.clear_system_cache()
    (tmp_path / "chroma.opening").touch()  # as a crash leaves it: the folder is put aside as well
    index = embedded(tmp_path / "chroma", SPACE)
    index.add(["in_1"], rows(1))
    assert index.ids() == {"in_1"}


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host", "http://host/path"])
def test_a_url_that_cannot_be_meant_is_named_by_its_setting(url):
    with pytest.raises(UsageError, match="FIRSTFAULT_CHROMA_URL"):
        served(url, SPACE)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class ChromaServer:
    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self):
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", self.folder]
        self.process = subprocess.Popen(
            [*map(str, command), "--host", "127.0.0.1", "--port", str(self.port)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        end = time.monotonic() + 30
        while time.monotonic() < end:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError("the Chroma server did not start")

    def stop(self):
        self.process.kill()
        self.process.wait(10)


@pytest.fixture
def server(tmp_path):
    found = ChromaServer(tmp_path / "served")
    found.start()
    yield found
    found.stop()


def test_a_chroma_server_serves_and_a_search_outlives_it(past, server, monkeypatch):
    monkeypatch.setattr(whole, "_AGAIN_SECONDS", 0.1)
    for cause in FAILURES:
        past.add(cause)
    index, other = (served(server.url, HashingEmbedder.name) for _ in range(2))
    memory = past.memory(lambda: index)
    assert other.ids() == past_ids(past)
    found = memory.nearest(Snippet((FAILURES["ECCError"],)), 1)
    assert (found.precedents[0].cause, found.note) == ("ECCError", None)

    server.stop()
    found = memory.nearest(Snippet((FAILURES["ECCError"],)), 1)
    assert (found.precedents[0].cause, found.note) == ("ECCError", GONE)
    past.add("Stalled", "FrobnicatorError: a thing that came while the server was gone")
    memory.catch_up()
    with pytest.raises(IndexGone):
        other.ids()

    server.start()
    time.sleep(0.2)
    memory.catch_up()
    assert memory.nearest(Snippet((FAILURES["ECCError"],)), 1).note is None
    assert other.ids() == past_ids(past)
    assert memory.rebuild() == len(FAILURES) + 1


def test_a_server_that_accepts_and_never_answers_is_given_up(monkeypatch):
    monkeypatch.setattr(chroma, "_SECONDS", 0.2)
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        index = served(f"http://127.0.0.1:{mute.getsockname()[1]}", SPACE)
        with pytest.raises(IndexGone):
            index.ids()


def past_ids(past):
    return {one.id for one in past.incidents.changed((0.0, ""), 1000)}
