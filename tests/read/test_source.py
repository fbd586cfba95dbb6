import errno
import gzip
import io
import os
import sys
from pathlib import Path

import pytest
from backports import zstd

from app.errors import SourceError, SourceNotFound
from app.read.source import Source, sources


def names(*inputs):
    return [source.name for source in sources(inputs)]


def written(folder, *files):
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("step 1\n")
    return folder


def test_a_file_goes_by_its_own_name(tmp_path):
    written(tmp_path, "train.log")
    assert names(tmp_path / "train.log") == ["train.log"]


def test_files_of_a_folder_come_in_the_order_of_their_ranks(tmp_path):
    written(tmp_path, "rank10.log", "rank2.log", "rank1.log")
    assert names(tmp_path) == ["rank1.log", "rank2.log", "rank10.log"]


def test_files_of_several_folders_are_named_below_the_common_one(tmp_path):
    written(tmp_path, "node1/0/stderr.log", "node1/1/stderr.log", "node2/0/stderr.log")
    assert names(tmp_path / "node2", tmp_path / "node1") == [
        "node2/0/stderr.log",
        "node1/0/stderr.log",
        "node1/1/stderr.log",
    ]


def test_digits_of_other_scripts_in_a_name_do_not_upset_the_order(tmp_path):
    written(tmp_path, "a3²3.log", "a3٣.log", "a3b.log")
    assert len(names(tmp_path)) == 3


def test_relative_and_absolute_paths_may_be_given_together(tmp_path, monkeypatch):
    written(tmp_path, "a/x.log", "b/y.log")
    monkeypatch.chdir(tmp_path)
    assert names(Path("a/x.log"), tmp_path / "b/y.log") == ["a/x.log", "b/y.log"]


def test_a_file_that_is_given_twice_is_read_once(tmp_path, monkeypatch):
    written(tmp_path, "a/x.log", "a/y.log", "b/z.log")
    monkeypatch.chdir(tmp_path)
    assert names(Path("a/x.log"), tmp_path / "a/x.log", Path("b/../a/x.log")) == ["x.log"]
    assert names(Path("a/y.log"), Path("a")) == ["y.log", "x.log"]


def test_a_link_beside_the_file_that_it_leads_to_is_left_out(tmp_path):
    written(tmp_path, "run_3.log", "run_2.log")
    (tmp_path / "latest.log").symlink_to("run_3.log")
    assert names(tmp_path) == ["run_2.log", "run_3.log"]
    assert names(tmp_path / "latest.log") == ["latest.log"]


def test_a_name_that_is_no_text_can_be_printed(tmp_path):
    path = os.fsencode(tmp_path) + b"/rank\xff.log"
    with open(path, "wb") as file:
        file.write(b"step 1\n")
    (source,) = sources([tmp_path])
    assert source.name == "rank\N{REPLACEMENT CHARACTER}.log"
    with source.open() as file:
        assert file.read() == b"step 1\n"


def test_what_cannot_be_a_log_is_left_out_of_a_folder(tmp_path):
    written(tmp_path, "out.log", "run.py", "config.yaml", "ckpt/model.safetensors", ".hidden/x.log")
    (tmp_path / "core.4711").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(200))
    (tmp_path / "empty.log").touch()
    os.mkfifo(tmp_path / "pipe")
    assert names(tmp_path) == ["out.log"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pod.yaml", "kind: Pod\nstatus:\n  containerStatuses:\n  - name: main\n"),
        ("job.json", '{"TrainingJobName": "lm", "SecondaryStatus": "Stopped"}'),
    ],
)
def test_what_a_platform_dumped_of_a_job_is_one_of_its_logs(tmp_path, name, text):
    written(tmp_path, "out.log")
    (tmp_path / name).write_text(text)
    (tmp_path / "ds_config.json").write_text('{"zero_optimization": {"stage": 3}}')
    (tmp_path / "manifest.yaml").write_text("kind: Pod\nspec:\n  restartPolicy: OnFailure\n")
    assert sorted(names(tmp_path)) == sorted(["out.log", name])


@pytest.mark.parametrize("files", [[], ["model.pt", "notes.md"]])
def test_a_folder_without_logs_is_refused_by_name(tmp_path, files):
    written(tmp_path, *files)
    with pytest.raises(SourceError, match=f"^{tmp_path}: the folder holds no log file$"):
        sources([tmp_path])


@pytest.mark.parametrize("name", ["gone.log", "no/folder/gone.log", "with\0nul.log"])
def test_a_missing_path_is_named(tmp_path, name):
    with pytest.raises(SourceNotFound, match="no such file or folder") as raised:
        sources([tmp_path / name])
    assert str(tmp_path / name) in str(raised.value)


def test_no_input_at_all_is_an_error():
    with pytest.raises(SourceError, match="no log was given"):
        sources([])


def test_a_device_is_refused():
    with pytest.raises(SourceError, match="^/dev/null: neither a file, a folder nor a pipe$"):
        sources([Path("/dev/null")])


def test_a_file_that_vanishes_before_it_is_opened_is_named(tmp_path):
    written(tmp_path, "a.log", "b.log")
    _, gone = sources([tmp_path])
    (tmp_path / "b.log").unlink()
    with pytest.raises(SourceError, match=r"b\.log: cannot be read: No such file"):
        gone.open()


def test_a_file_that_vanishes_while_its_folder_is_listed_is_left_out(tmp_path):
    written(tmp_path, "a.log")
    (tmp_path / "b.log").symlink_to(tmp_path / "rotated.log")
    assert names(tmp_path) == ["a.log"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read any file")
def test_a_file_without_permission_is_named(tmp_path):
    written(tmp_path, "a.log")
    (tmp_path / "a.log").chmod(0)
    (source,) = sources([tmp_path])
    with pytest.raises(SourceError, match=r"a\.log: cannot be read: Permission denied"):
        source.open()


def test_a_file_that_may_not_be_opened_stays_listed_so_that_its_fault_is_told(
    tmp_path, monkeypatch
):
    written(tmp_path, "a.log")

    def refuse(path, *_args, **_kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr("builtins.open", refuse)
    (source,) = sources([tmp_path])
    with pytest.raises(SourceError, match=r"a\.log: cannot be read: Permission denied"):
        source.open()


def test_a_folder_that_cannot_be_listed_is_named(tmp_path, monkeypatch):
    def refuse(path):
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(SourceError, match=f"^{tmp_path}: cannot be read: Input/output error"):
        sources([tmp_path])


def test_a_stream_is_opened_once_and_goes_by_its_name(tmp_path):
    stream = io.BytesIO(b"step 1\n")
    (source,) = sources([stream])
    assert source == Source("stdin", stream=stream)
    assert source.open() is stream
    with (written(tmp_path, "a.log") / "a.log").open("rb") as file:
        assert names(file) == [str(tmp_path / "a.log")]
    assert names(sys.__stdin__.buffer) == ["<stdin>"]


def test_a_stream_that_is_named_by_a_number_has_a_name_of_text():
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert names(stream) == ["stdin"]


def test_packed_logs_of_a_folder_are_read_like_plain_ones(tmp_path: Path) -> None:
    (tmp_path / "rank0.log").write_bytes(b"step 1\n")
    (tmp_path / "rank1.log.gz").write_bytes(gzip.compress(b"step 1\n" * 50))
    (tmp_path / "rank2.log.zst").write_bytes(zstd.compress(b"step 1\n" * 50))
    found = [source.name for source in sources([tmp_path])]
    assert found == ["rank0.log", "rank1.log.gz", "rank2.log.zst"]
