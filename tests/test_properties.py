"""What holds for any log, from its bytes to the verdict."""

import errno
import gzip
import io
import os
import re
import struct
import threading

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import SourceError, SourceNotFound, SourceTooLarge
from app.model import Job
from app.pipeline import Limits, diagnose
from app.token_count import tokens
from tests.own_rules import COMPILED

CODE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
STORY = [
    "[rank0]: Traceback (most recent call last):",
    '[rank0]:   File "/srv/run/feed.py", line 41, in batch',
    '[rank0]:     ids = row["token_ids"]',
    "[rank0]: KeyError: 'token_ids'",
]
STEP = "step 17 | loss 2.31 | grad norm 0.88"
FRAGMENTS = [
    *STORY,
    STEP,
    "step: 18  loss:  nan  grad_norm:  inf",
    "Loading checkpoint shards:  33%|███▎      | 1/3 [00:04<00:09,  4.61s/it]",
    "[rank3]:[E1130 04:22:11.000000003 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=88, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
    "Timeout(ms)=600000) ran for 600029 milliseconds before timing out.",
    "[rank5]: RuntimeError: CUDA error: an illegal memory access was encountered",
    "[Tue Nov 30 04:20:01 2026] NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, GPU has fallen off",
    "slurmstepd: error: *** JOB 4711 ON node-17 CANCELLED AT 2026-11-30T04:25:00 DUE TO TIME LIMIT",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    "node-a: 3: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.",
    "2026-11-30 04:22:11,900 ERROR trainer.py:88 OSError: [Errno 28] No space left on device",
    "During handling of the above exception, another exception occurred:",
    "Exception ignored in: <function Pool.__del__ at 0x7f3a>",
    "Segmentation fault (core dumped)",
    "saving checkpoint at iteration 1000",
    "Training completed",
    "W1130 04:22:11.000 torch/distributed/run.py:792] ",
    "{'loss': 2.31, 'epoch': 0.4}",
    *["", " "],
]
GLUE = [b"\n", b"\n", b"\n", b"\n", b"\r\n", b"\r", b" ", b"\t", b"\0", b"\0" * 5000]
GLUE += [b"\x1b[31m", b"\x1b[0m", b"\xff\xfe", b"\xc3", b"\xe2\x96\x88", b"abcdefgh " * 700]

mixes = st.lists(
    st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from(GLUE), st.sampled_from(GLUE)), max_size=40
).map(lambda parts: b"start" + b"".join(one + text.encode() + two for text, one, two in parts))


scraps = st.lists(st.binary(max_size=400) | mixes, max_size=8).map(b"".join)


def bare(text):
    """A text without colours, control characters and what no UTF-8 was."""
    return "".join(c for c in CODE.sub("", text) if c >= " " and c not in "\x7f\ufffd")


def lines_of(data):
    return [bare(line.decode("utf-8", "replace")) for line in data.split(b"\n")]


def places(diagnosis):
    """Every file and line that an answer names."""
    verdict = diagnosis.verdict
    seen = verdict.primary.first_seen
    return [
        *([(seen.file, seen.line)] if seen else []),
        *((e.file, e.line) for e in verdict.evidence),
        *((e.file, e.first_line) for e in verdict.explained),
        *((r.file, r.first_line) for r in verdict.other_roots),
        *((a.file, line) for a in diagnosis.attempts for line in a.lines),
    ]


def check(diagnosis, logs):
    """Hold an answer to the logs, given by name."""
    lines = {name: lines_of(data) for name, data in logs.items()}
    for file in diagnosis.log.files:
        assert file.bytes == len(logs[file.name])
        assert file.lines == len(lines[file.name]) - logs[file.name].endswith(b"\n")
        assert 0 <= file.kept_lines <= file.lines
    for name, number in places(diagnosis):
        assert 1 <= number <= len(lines[name]), (name, number)
    for evidence in diagnosis.verdict.evidence:
        for part in evidence.text.split(" … "):
            assert bare(part) in lines[evidence.file][evidence.line - 1], evidence
    assert tokens(diagnosis.digest) <= Limits().digest_tokens
    assert len(diagnosis.verdict.evidence) <= 12
    assert all(len(evidence.text) <= 1000 for evidence in diagnosis.verdict.evidence)


def told(*inputs, limits=Limits()):  # noqa: B008  # a frozen value
    return diagnose(inputs, COMPILED, limits=limits)


@settings(max_examples=250, deadline=None, derandomize=True)
@given(mixes)
def test_an_answer_about_any_mix_of_log_lines_stands_on_its_lines(data):
    check(told(io.BytesIO(data)), {"stdin": data})


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(mixes, min_size=2, max_size=4))
def test_an_answer_about_several_files_names_the_right_ones(tmp_path_factory, logs):
    folder = tmp_path_factory.mktemp("job")
    for rank, data in enumerate(logs):
        (folder / f"rank{rank}.log").write_bytes(data)
    named = {path.name: path.read_bytes() for path in folder.iterdir()}
    check(told(folder), named)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.binary(max_size=3000) | st.lists(st.binary(max_size=60) | mixes, max_size=8).map(b"".join)
)
def test_any_bytes_give_an_answer_or_one_clear_error(data):
    try:
        diagnosis = told(io.BytesIO(data))
    except SourceError as error:
        refused = str(error)
    else:
        refused = "stdin: "
        assert tokens(diagnosis.digest) <= Limits().digest_tokens
    assert refused.startswith("stdin: ")
    assert "\n" not in refused


def story(before=3000, after=50):
    """A log with one traceback in it."""
    return [*[STEP] * before, *STORY, *["bye"] * after]


def painted(line):
    return line.replace("KeyError", "\x1b[1;31mKey\x1b[0m\x1b[31mError\x1b[0m").replace(
        "Traceback", "Trace\x1b[4mback"
    )


BARS = "".join(f"\r{n // 10:3}%|###   | {n}/1000 [00:10<01:00, 3.1it/s]" for n in range(1000))
AS_WRITTEN = "\n".join(story()) + "\n"
ODD = {
    "plain": AS_WRITTEN.encode(),
    "no end of line": "\n".join(story(after=0)).encode(),
    "crlf": "\r\n".join(story()).encode(),
    "bom": b"\xef\xbb\xbf" + AS_WRITTEN.encode(),
    "utf16 le": b"\xff\xfe" + AS_WRITTEN.encode("utf-16-le"),
    "utf16 be": b"\xfe\xff" + AS_WRITTEN.encode("utf-16-be"),
    "gzip": gzip.compress(AS_WRITTEN.encode()),
    "zstd": zstd.compress(AS_WRITTEN.encode()),
    "colours": "\n".join(map(painted, story())).encode(),
    "nul run": bytes(3 << 20) + AS_WRITTEN.encode(),
    "nul run before the traceback": AS_WRITTEN.replace(
        STORY[0], "\0" * (9 << 20) + STORY[0]
    ).encode(),
    "bad bytes": AS_WRITTEN.encode().replace(b"| loss", b"\xff\xc3\x28 loss"),
    "traceback at the tail of a bar": AS_WRITTEN.replace(STORY[0], BARS + STORY[0]).encode(),
    "traceback behind a megabyte of bars": AS_WRITTEN.replace(
        STORY[0], BARS * 25 + "\r" + STORY[0]
    ).encode(),
    "blank lines": AS_WRITTEN.replace("\n", "\n\n").encode(),
}


@pytest.mark.parametrize("odd", ODD)
def test_the_reported_line_holds_the_fault_after_every_oddity(tmp_path, odd):
    path = tmp_path / "train.log"
    path.write_bytes(ODD[odd])
    diagnosis = told(path)
    assert diagnosis.verdict.primary.cause == "KeyError"
    plain = ODD[odd] if odd in ("colours", "no end of line") else AS_WRITTEN.encode()
    if odd not in ("utf16 le", "utf16 be", "gzip", "zstd"):
        plain = ODD[odd]
    line = plain.split(b"\n")[diagnosis.verdict.primary.first_seen.line - 1]
    assert "KeyError: 'token_ids'" in bare(line.decode("utf-8", "replace"))
    assert diagnosis.log.lines == plain.count(b"\n") + (not plain.endswith(b"\n"))


def test_faults_in_a_line_of_100_mb_are_found_with_its_number(tmp_path):
    path = tmp_path / "train.log"
    half = b"[rank7]: " + b"abcdefgh " * 5_600_000
    middle = b"RuntimeError: CUDA error: an illegal memory access was encountered "
    end = b" No space left on device"
    with path.open("wb") as file:
        file.write(b"one\ntwo\n" + half + middle + half + end + b"\nfour\n")
    diagnosis = told(path)
    found = {evidence.text: evidence.line for evidence in diagnosis.verdict.evidence}
    said = "\n".join(found)
    assert "illegal memory access was encountered" in said
    roots = [diagnosis.verdict.primary.cause, *(r.cause for r in diagnosis.verdict.other_roots)]
    explained = [e.cause for e in diagnosis.verdict.explained]
    assert {"CUDAError", "StorageError"} <= {*roots, *explained}
    assert {number for _, number in places(diagnosis)} == {3}
    assert diagnosis.log.lines == 4


def test_a_log_that_grows_while_it_is_read_is_judged_by_what_was_there(tmp_path):
    path = tmp_path / "train.log"
    path.write_text(AS_WRITTEN)
    done = threading.Event()

    def write():
        with path.open("ab", buffering=0) as file:
            while not done.wait(0.001):
                file.write(b"step 18 | loss 2.30 | grad norm 0.88\n" * 50)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        diagnosis = told(path)
    finally:
        done.set()
        writer.join()
    assert diagnosis.verdict.primary.cause == "KeyError"
    assert diagnosis.verdict.primary.first_seen.line == 3004
    assert diagnosis.log.bytes <= path.stat().st_size


def test_a_pipe_is_read_as_it_is_written():
    reading, writing = os.pipe()

    def write():
        with os.fdopen(writing, "wb", buffering=0) as file:
            for begin in range(0, len(AS_WRITTEN), 997):
                file.write(AS_WRITTEN[begin : begin + 997].encode())

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(reading, "rb") as stream:
        diagnosis = told(stream)
    writer.join()
    assert diagnosis.verdict.primary.first_seen.line == 3004


PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(400)
TENSOR = b"".join(struct.pack("<f", n * 0.37 % 1.9 - 0.95) for n in range(4000))
WORDS = ("\n".join(story()) * 20).encode()
BAD = {
    "empty": (b"", "the log is empty"),
    "program": (b"\x7fELF\x02\x01\x01" + bytes(400), "not a log but an ELF program"),
    "checkpoint": (b"PK\x03\x04" + bytes(400), "not a log but a zip archive"),
    "picture": (PICTURE, "not a log but a PNG picture"),
    "tensor": (TENSOR, "not a log but binary data"),
    "cut gzip": (gzip.compress(WORDS)[:-20], "ends too early: the file is truncated"),
    "cut zstd": (zstd.compress(WORDS)[:-20], "ends too early: the file is truncated"),
    "torn gzip": (gzip.compress(WORDS)[:60] + b"\xff" * 60, "is damaged"),
    "torn zstd": (zstd.compress(WORDS)[:60] + b"\xff" * 60, ""),
    "empty gzip": (gzip.compress(b""), "the log is empty"),
}


@pytest.mark.parametrize("bad", BAD)
def test_what_cannot_be_read_is_one_clear_error_that_names_the_file(tmp_path, bad):
    data, why = BAD[bad]
    path = tmp_path / "node7.log"
    path.write_bytes(data)
    with pytest.raises(SourceError) as raised:
        told(path)
    assert str(raised.value).startswith("node7.log: ")
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("bad", [bad for bad in BAD if not bad.startswith("empty")])
def test_of_several_files_the_bad_one_is_named(tmp_path, bad):
    (tmp_path / "a").mkdir()
    for name in ("a/node1.log", "a/node9.log", "node3.log"):
        (tmp_path / name).write_text(AS_WRITTEN)
    (tmp_path / "a/node2.log").write_bytes(BAD[bad][0])
    given_by_name = sorted(tmp_path.rglob("*.log"))
    with pytest.raises(SourceError, match=r"^a/node2\.log: "):
        told(*given_by_name)


def test_of_an_empty_log_the_scheduler_may_still_say_how_the_job_ended(tmp_path):
    (tmp_path / "a.log").touch()
    found = diagnose([tmp_path / "a.log"], COMPILED, job=Job(state="TIMEOUT"))
    assert found.verdict.primary.cause == "TimeLimitExceeded"


def test_an_empty_file_among_others_is_no_fault(tmp_path):
    (tmp_path / "a.log").touch()
    (tmp_path / "b.log").write_text(AS_WRITTEN)
    diagnosis = told(tmp_path / "a.log", tmp_path / "b.log")
    assert diagnosis.verdict.primary.first_seen.file == "b.log"
    assert [file.lines for file in diagnosis.log.files] == [0, 3054]


def test_programs_and_pictures_among_the_logs_of_a_folder_are_left_out(tmp_path):
    (tmp_path / "train.log").write_text(AS_WRITTEN)
    (tmp_path / "core.4711").write_bytes(b"\x7fELF" + bytes(400))
    (tmp_path / "loss_curve").write_bytes(PICTURE)
    diagnosis = told(tmp_path)
    assert [file.name for file in diagnosis.log.files] == ["train.log"]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SourceNotFound, match="node7.log: no such file or folder"):
        told(tmp_path / "node7.log")


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_a_bomb_is_refused(tmp_path, pack):
    path = tmp_path / "node7.log"
    path.write_bytes(pack(bytes(100 << 20)))
    with pytest.raises(SourceTooLarge, match=r"^node7\.log: more than \d+ bytes of text"):
        told(path, limits=Limits(max_bytes=20 << 20))


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.ESTALE, errno.EMFILE])
def test_a_file_that_the_system_refuses_is_named_with_the_reason(tmp_path, monkeypatch, number):
    path = tmp_path / "node7.log"
    path.write_text(AS_WRITTEN)
    really = open

    def refuse(file, *args, **kwargs):
        if file == path:
            raise OSError(number, os.strerror(number), str(file))
        return really(file, *args, **kwargs)

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(SourceError, match=f"node7.log: cannot be read: {os.strerror(number)}$"):
        told(path)
