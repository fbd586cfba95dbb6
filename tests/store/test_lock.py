import os
import subprocess
import sys

import pytest

from app.errors import StoreError
from app.store.lock import FolderLock

HOLD = """
import sys, time
from pathlib import Path
from app.store.lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_a_folder_is_held_once_and_the_refusal_names_the_holder(tmp_path):
    lock = FolderLock(tmp_path)
    with pytest.raises(StoreError, match=f"pid {os.getpid()}.*FIRSTFAULT_DATA_DIR"):
        FolderLock(tmp_path)
    lock.release()
    FolderLock(tmp_path).release()


def test_the_folder_is_free_again_when_its_holder_is_killed(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match=f"pid {holder.pid}"):
            FolderLock(tmp_path)
        holder.kill()
        holder.wait()
    FolderLock(tmp_path).release()


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be used"):
        FolderLock(tmp_path / "file" / "data")
