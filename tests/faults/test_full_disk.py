"""A disk that fills up: a real one of a few MiB where root may mount it."""

import os
import subprocess
import time

import pytest

from tests.api.server import ended, running

ROOM = 16 << 20


@pytest.fixture
def disk(tmp_path):
    """A small disk of its own; its user can fill it to the last byte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", str(folder)]
    if os.getuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def filled(folder):
    """Leave no byte free."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return ballast


def test_a_disk_that_fills_up_loses_nothing_and_is_taken_up_again_when_there_is_room(
    disk, tmp_path
):
    chosen = {"min_free_bytes": 0, "memory": False, "cache_dir": tmp_path / "cache"}
    with running(disk / "data", **chosen) as served, served.client(timeout=60) as client:
        id = client.post("/v1/diagnoses", content=b"sleep 2\ncause KeyError").json()["id"]
        second = client.post("/v1/diagnoses", content=b"cause NameError").json()["id"]
        ballast = filled(disk)
        refused = client.post("/v1/diagnoses", content=b"cause TypeError\n" * 100_000)
        assert refused.status_code == 503, refused.text
        assert refused.headers["retry-after"]
        assert list((disk / "data" / "uploads" / "incoming").iterdir()) == []
        assert client.get("/healthz").status_code == 200
        time.sleep(2.5)  # the first one is read by now, and its answer finds no room
        for each in (id, second):
            assert client.get(f"/v1/diagnoses/{each}").json()["status"] != "failed"
        ballast.unlink()
        assert ended(client, id, 60)["primary"]["cause"] == "KeyError"
        assert ended(client, second, 60)["primary"]["cause"] == "NameError"
        third = client.post("/v1/diagnoses?wait=30", content=b"cause TypeError")
        assert third.json()["primary"]["cause"] == "TypeError"


def test_an_upload_that_fills_the_disk_half_way_leaves_nothing_behind(disk, tmp_path):
    chosen = {"min_free_bytes": "1MiB", "memory": False, "cache_dir": tmp_path / "cache"}
    with running(disk / "data", **chosen) as served, served.client(timeout=60) as client:
        before = _taken(disk)
        refused = client.post("/v1/diagnoses", content=(b"x" * 65_536 for _ in range(512)))
        assert refused.status_code == 503
        assert "FIRSTFAULT_MIN_FREE_BYTES" in refused.json()["detail"]
        assert _taken(disk) - before < 1 << 20
        assert client.post("/v1/diagnoses?wait=30", content=b"cause KeyError").status_code == 200


def _taken(folder) -> int:
    told = os.statvfs(folder)
    return (told.f_blocks - told.f_bfree) * told.f_frsize
