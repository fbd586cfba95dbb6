"""Logs in an object store, with a server that speaks S3 on a real port."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.errors import OutsideRoots, SourceError, SourceNotFound, SourceTooLarge, UsageError
from app.work import objects
from app.work.object_names import ObjectName, named, of_uri
from app.work.objects import ObjectStore, copies
from app.work.roots import LogRoots
from app.work.settling import glance
from tests.object_store import object_store
from tests.postgres import free_port

A = ObjectName("logs", "runs/a.log")
RUNS = ObjectName("logs", "runs/")


@pytest.fixture(scope="module")
def bucket():
    with object_store() as found:
        yield found


@pytest.fixture
def store(bucket, tmp_path):
    bucket.put("runs/a.log", b"pump 3 leaks\n")
    bucket.put("runs/b/rank0.log", b"one\n")
    bucket.put("runs/b/rank1.log", b"two\n")
    return ObjectStore(bucket.endpoint, tmp_path / "fetched", max_bytes=1 << 20)


def test_an_object_is_copied_for_as_long_as_it_is_read(store):
    with copies(["/var/log/x", str(A)], store) as (local, copy):
        assert local == "/var/log/x"
        assert copy.endswith("/runs/a.log")
        with open(copy, "rb") as opened:
            assert opened.read() == b"pump 3 leaks\n"
    assert list(store.folder.iterdir()) == []


def test_a_folder_is_copied_as_it_lies_in_the_store(store):
    with store.copied([ObjectName("logs", "runs/b/")]) as (folder,):
        assert {path.name: path.read_text() for path in folder.iterdir()} == {
            "rank0.log": "one\n", "rank1.log": "two\n",
        }  # fmt: skip


def test_a_copy_goes_also_where_the_reading_fails(store):
    with pytest.raises(ZeroDivisionError), copies([str(A)], store):
        raise ZeroDivisionError
    assert list(store.folder.iterdir()) == []


def test_each_entry_below_a_folder_is_a_job(store):
    assert list(map(str, store.jobs(RUNS))) == ["s3://logs/runs/a.log", "s3://logs/runs/b/"]


def test_a_large_object_comes_whole(store, bucket):
    data = bytes(range(256)) * 40_000
    bucket.put("runs/large", data)
    wide = ObjectStore(store.endpoint, store.folder, max_bytes=1 << 30)
    with wide.copied([ObjectName("logs", "runs/large")]) as (path,):
        assert path.read_bytes() == data
    bucket.remove("runs/large")


@pytest.mark.parametrize("name", ["runs/none.log", "none/", "runs"])
def test_what_is_not_there_is_said_to_be_missing(store, name):
    with pytest.raises(SourceNotFound, match="s3://logs/"):
        store.objects(ObjectName("logs", name))


def test_a_bucket_that_is_not_there_is_said_to_be_missing(store):
    with pytest.raises(SourceNotFound):
        store.objects(ObjectName("no-such-bucket", "a"))


def test_objects_past_the_limit_are_refused_before_they_are_fetched(store):
    small = ObjectStore(store.endpoint, store.folder, max_bytes=8)
    with pytest.raises(SourceTooLarge, match="MAX_LOG_BYTES"), copies([str(A)], small):
        pass


def test_a_disk_without_room_is_told_before_anything_is_fetched(store):
    full = ObjectStore(store.endpoint, store.folder, 1 << 20, min_free_bytes=1 << 60)
    with pytest.raises(Exception, match="do not fit on the disk"), copies([str(A)], full):
        pass


def test_a_store_that_is_gone_is_named_within_a_bounded_time(tmp_path, bucket):
    gone = ObjectStore(f"http://127.0.0.1:{free_port()}", tmp_path, max_bytes=1)
    began = time.monotonic()
    with pytest.raises(SourceError, match="s3://logs/runs/a.log: cannot be had"):
        gone.objects(A)
    assert time.monotonic() - began < 60


def test_a_store_that_does_not_answer_is_given_up(tmp_path, bucket, monkeypatch):
    monkeypatch.setattr(objects, "_LOOK_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        slow = ObjectStore(f"http://127.0.0.1:{port}", tmp_path, max_bytes=1)
        with pytest.raises(SourceError, match="no answer in time"):
            slow.objects(A)


def test_a_store_that_denies_access_says_so(tmp_path, bucket):
    with _answering(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") as endpoint:
        denied = ObjectStore(endpoint, tmp_path, max_bytes=1)
        with pytest.raises(SourceError, match="denies access"):
            denied.objects(A)


class _answering:
    """A server that gives every request the same answer."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer

    def __enter__(self) -> str:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pool = ThreadPoolExecutor(1)
        self._pool.submit(self._serve)
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            with line:
                line.recv(65536)
                line.sendall(self._answer)

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._pool.shutdown()


def test_it_looks_otherwise_once_it_has_changed_and_the_same_until_then(store, bucket):
    before = glance([RUNS], store)
    assert before == glance([RUNS], store) or before.state == glance([RUNS], store).state
    bucket.put("runs/a.log", b"pump 4 leaks\n")
    after = glance([RUNS], store)
    assert after.is_whole
    assert after.state != before.state
    assert not glance([A, ObjectName("logs", "none")], store).is_whole


def test_copies_of_killed_processes_are_removed_when_they_are_old(store, monkeypatch):
    (store.folder / "left").mkdir(parents=True)
    assert store.remove_left_behind() == 0
    monkeypatch.setattr(objects, "_LEFT_BEHIND_SECONDS", -1)
    assert store.remove_left_behind() == 1


@pytest.mark.parametrize(
    "uri",
    [
        "s3://",
        "s3://B/a",
        "s3://b/a",
        "s3:/logs/a",
        "s3://logs/../secret",
        "s3://logs/runs/%2e%2e/secret",
        "s3://logs/runs/%2E%2E%2Fsecret",
        "s3://logs//a",
        "s3://logs/./a",
        "s3://logs/a%00",
        "s3://logs/a%0d%0ax",
        "s3://logs/a\\..\\b",
        "s3://logs/a?versionId=1",
        "s3://user@logs/a",
        "s3://logs:80/a",
    ],
)
def test_tricks_with_names_are_refused(uri):
    with pytest.raises(UsageError):
        of_uri(uri)


def test_an_escape_is_taken_out_once():
    assert of_uri("s3://logs/job%207/%252e%252e").key == "job 7/%2e%2e"


def test_only_what_lies_below_a_root_is_allowed(store):
    roots = LogRoots(["s3://logs/runs", "s3://open"], store)
    assert roots.place("s3://logs/runs/a.log") == A
    assert roots.promised("s3://logs/runs/") == RUNS
    assert str(roots.check_again("s3://open/x y")) == "s3://open/x y"
    for outside in ("s3://logs/runs2/a", "s3://logs/", "s3://logs/run", "s3://other/runs/a"):
        with pytest.raises(OutsideRoots):
            roots.promised(outside)
    with pytest.raises(SourceNotFound):
        roots.place("s3://logs/runs/none.log")


def test_a_place_is_checked_without_listing_all_of_it(store):
    store.check(RUNS)
    with pytest.raises(SourceNotFound):
        store.check(ObjectName("no-such-bucket", ""))


def test_a_root_of_a_whole_bucket_opens_all_of_it():
    assert LogRoots(["s3://logs"]).promised("s3://logs/any/thing") == named("s3://logs/any/thing")
