"""The first date of a log, whatever shorter stamps stand before it."""

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest

from app.pipeline import Limits, compressed
from app.read.dated import first_date
from app.rulebook.compiled import Compiled

BEGINS = b"I1231 23:59:50.100000 81 store.cc:12] listening\n[00:10:00] up\n\x1b[32mplain\x1b[0m\n"


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("rest", "date"),
    [
        (b"2024-01-01 00:10:00,123 INFO up", "2024-01-01T00:10:00.123"),
        (b"[Mon Jan  1 00:10:00 2024] NVRM: up", "2024-01-01T00:10:00"),
        (b"Jan  1 00:10:00 gpu-1 kernel: up", None),
        (b"no stamp, though 2024-01-01 00:10:00 stands in it", None),
        (b"\xff\xfe broken", None),
    ],
)
def test_the_first_complete_stamp_is_found_behind_shorter_ones(
    rest: bytes, date: str | None
) -> None:
    assert first_date(memoryview(BEGINS + rest)) == (date and pytest.approx(at(date)))


def test_far_into_a_file_nobody_looks() -> None:
    assert first_date(memoryview(b"up\n" * 40_000 + b"2024-01-01 00:10:00 up")) is None


def test_stamps_without_a_year_stand_before_the_first_full_date(
    tmp_path: Path, compiled: Compiled
) -> None:
    first, second = tmp_path / "a.log", tmp_path / "b.log"
    first.write_bytes(BEGINS + b"2024-01-01 00:10:00 up\n")
    second.write_bytes(b"E0101 00:11:00.100000 81 store.cc:12] gone\n")
    lines = compressed([first, second], compiled, Limits()).lines
    times = [line.time for line in lines if line.time is not None]
    assert times == sorted(times)
    assert times[0] == pytest.approx(at("2023-12-31T23:59:50.1"))
    assert times[-1] == pytest.approx(at("2024-01-01T00:11:00.1"))
    assert compressed([BytesIO(second.read_bytes())], compiled, Limits()).lines[0].time is not None
