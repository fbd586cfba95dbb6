import hashlib
import os
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.errors import SourceNotFound, StoreError
from app.store.uploads import Uploads

LOG = b"step 1 loss 2.0\n" * 100


@pytest.fixture
def uploads(tmp_path):
    return Uploads(tmp_path / "uploads")


def stored(uploads):
    return sorted(uploads._folder.glob("??/*/log"))


def incoming(uploads):
    return list((uploads._folder / "incoming").iterdir())


def test_a_log_is_kept_byte_by_byte_under_its_hash(uploads):
    sha256 = uploads.put(LOG)
    assert sha256 == hashlib.sha256(LOG).hexdigest()
    assert uploads.path(sha256).read_bytes() == LOG


def test_the_same_content_is_stored_once(uploads):
    assert uploads.put(LOG) == uploads.put(LOG)
    assert len(stored(uploads)) == 1
    assert incoming(uploads) == []


def test_a_log_is_not_to_be_seen_before_it_is_whole(uploads):
    with uploads.begin() as arriving:
        arriving.write(LOG)
        assert stored(uploads) == []
        with pytest.raises(SourceNotFound):
            uploads.path(hashlib.sha256(LOG).hexdigest())
        sha256 = arriving.keep()
    assert stored(uploads) == [uploads.path(sha256)]


def test_what_breaks_off_leaves_nothing_behind(uploads):
    with uploads.begin() as arriving:
        arriving.write(LOG)
    assert stored(uploads) == []
    assert incoming(uploads) == []


def test_a_nearly_full_disk_refuses_logs_and_says_which_setting_matters(tmp_path):
    uploads = Uploads(tmp_path, min_free_bytes=shutil.disk_usage(tmp_path).total * 2)
    with pytest.raises(StoreError, match="FIRSTFAULT_MIN_FREE_BYTES"):
        uploads.put(LOG)
    assert stored(uploads) == incoming(uploads) == []


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError):
        Uploads(tmp_path / "file" / "uploads")


def test_a_sweep_removes_old_logs_but_not_those_in_use(uploads):
    old, used, fresh = (uploads.put(bytes([number]) * 9) for number in range(3))
    for sha256 in (old, used):
        os.utime(uploads.path(sha256), (1, 1))
    assert uploads.sweep(time.time() - 60, {used}) == 1
    assert stored(uploads) == sorted([uploads.path(used), uploads.path(fresh)])
    with pytest.raises(SourceNotFound, match="no longer kept"):
        uploads.path(old)


def test_sending_a_log_again_makes_it_young(uploads):
    sha256 = uploads.put(LOG)
    os.utime(uploads.path(sha256), (1, 1))
    uploads.put(LOG)
    assert uploads.sweep(time.time() - 60, set()) == 0


def test_a_log_that_another_process_is_sent_while_it_is_swept_stays(uploads, monkeypatch):
    sha256 = uploads.put(LOG)
    os.utime(uploads.path(sha256), (1, 1))
    rename = Path.rename

    def sent_just_before(path, aside):
        monkeypatch.undo()
        Uploads(uploads._folder).put(LOG)
        return rename(path, aside)

    monkeypatch.setattr(Path, "rename", sent_just_before)
    assert uploads.sweep(time.time() - 60, set()) == 0
    assert uploads.path(sha256).read_bytes() == LOG
    assert incoming(uploads) == []


def test_processes_that_share_a_folder_may_sweep_and_be_sent_logs_at_once(uploads):
    logs = [bytes([number]) * 9 for number in range(40)]
    for log in logs:
        os.utime(uploads.path(uploads.put(log)), (1, 1))
    others = [Uploads(uploads._folder) for _ in range(3)]
    with ThreadPoolExecutor(4) as threads:
        swept = [threads.submit(other.sweep, time.time() - 60, set()) for other in others]
        sent = threads.submit(lambda: [uploads.put(log) for log in logs])
        removed = sum(each.result() for each in swept)
    assert [uploads.path(sha256).read_bytes() for sha256 in sent.result()] == logs
    assert removed <= len(logs)
    assert incoming(uploads) == []


def test_a_sweep_clears_what_a_crash_left_long_ago(uploads):
    left = uploads._folder / "incoming" / "half"
    left.write_bytes(b"half a lo")
    uploads.sweep(0, set())
    assert left.exists()
    os.utime(left, (1, 1))
    uploads.sweep(0, set())
    assert not left.exists()


def test_many_threads_may_send_the_same_log_at_once(uploads):
    found = []
    threads = [threading.Thread(target=lambda: found.append(uploads.put(LOG))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16
    assert len(set(found)) == len(stored(uploads)) == 1
    assert incoming(uploads) == []
