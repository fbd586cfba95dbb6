"""Whatever is wrong with the input, one clear line says so and the status is 2."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import SHOWCASE, Command


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text("step 1 loss 3.0\n")
    return path


def test_a_file_that_is_not_there(firstfault: Command) -> None:
    said = firstfault.refused("diagnose", "/srv/nothing/train.log")
    assert said == "firstfault: /srv/nothing/train.log: no such file or folder\n"


def test_a_folder_without_a_log(firstfault: Command, tmp_path: Path) -> None:
    (tmp_path / "weights.safetensors").write_bytes(b"\0" * 64)
    assert "holds no log file" in firstfault.refused("diagnose", tmp_path)


@pytest.mark.parametrize("text", [b"", b"\n\n  \n"], ids=["no byte", "blank lines"])
def test_an_empty_log(firstfault: Command, text: bytes) -> None:
    told = firstfault("diagnose", "-", given=text)
    if text:
        assert (told.status, told.err) == (0, "")
        assert told.out.startswith("Unknown")
    else:
        assert told.status == 2
        assert told.err == "firstfault: <stdin>: the log is empty\n"


@pytest.mark.parametrize(
    ("start", "why"),
    [
        (b"\x7fELF\x02\x01\x01\0", "an ELF program"),
        (b"PK\x03\x04\x14\0", "a zip archive"),
        (bytes(range(256)) * 8, "binary data"),
    ],
    ids=["program", "archive", "bytes"],
)
def test_what_is_no_text(firstfault: Command, log: Path, start: bytes, why: str) -> None:
    log.write_bytes(start + b"\0\1\2\3" * 200)
    said = firstfault.refused("diagnose", log)
    assert said.count("\n") == 1
    assert log.name in said
    assert why in said


def test_an_archive_that_ends_too_early(firstfault: Command, tmp_path: Path) -> None:
    path = tmp_path / "train.log.gz"
    packed = gzip.compress(SHOWCASE.read_bytes())
    path.write_bytes(packed[: len(packed) // 2])
    said = firstfault.refused("diagnose", path)
    assert said.count("\n") == 1
    assert "truncated" in said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["diagnose"], "Missing argument"),
        (["diagnose", "--jsn", "LOG"], "No such option: --jsn"),
        (["diagnose", "--exit-code", "many", "LOG"], "'--exit-code'"),
        (["diagnose", "--scheduler", "cron", "LOG"], "'cron'"),
        (["diagnose", "-", "-"], "read only once"),
        (["diagnoze", "LOG"], "Did you mean 'diagnose'?"),
        (["rules"], "Missing command"),
        (["compress", "--tokens", "3", "LOG"], "'--tokens'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_line_that_cannot_be_meant(
    firstfault: Command, log: Path, words: list[str], why: str
) -> None:
    said = firstfault.refused(*(str(log) if word == "LOG" else word for word in words))
    assert said.count("\n") == 1
    assert why in said


def test_a_setting_that_cannot_be_meant(firstfault: Command, log: Path) -> None:
    said = firstfault.refused("diagnose", log, FIRSTFAULT_PORT="eighty")
    assert said.startswith("firstfault: FIRSTFAULT_PORT: ")


def test_a_state_that_nobody_knows_changes_nothing(firstfault: Command, log: Path) -> None:
    told = firstfault("diagnose", "--state", "SULKING", log)
    assert (told.status, told.err) == (0, "")
    assert told.out.startswith("Unknown")


def test_a_reader_that_leaves_early_is_told_nothing(firstfault: Command) -> None:
    environment = {"FIRSTFAULT_CACHE_DIR": str(firstfault.cache), "PATH": "/usr/bin:/bin"}
    call = f"{sys.executable} -m app.cli.main compress {SHOWCASE} | true"
    done = subprocess.run(
        ["bash", "-c", call], capture_output=True, env=environment, check=False, timeout=120
    )
    assert (done.stdout, done.stderr) == (b"", b"")
