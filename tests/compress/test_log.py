import io
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.compress import log as log_module
from app.compress.log import LineReading, compress
from app.errors import SourceError
from app.model import Prefix
from app.read.blocks import Buffers, blocks
from app.read.source import Source
from tests.compress.plant import plant, read

ROUTINE = b"drop no. %d fell\n"
READING = LineReading(lambda raw: (raw,), lambda _: lambda _raw: Prefix())


def from_streams(*streams, size=64, threads=1, progress=None, limit=1 << 30):
    buffers = Buffers(threads + 2, size)
    cut = (
        block
        for file, stream in enumerate(streams)
        for block in blocks(file, Source(f"{file}.log", stream=stream), buffers, limit)
    )
    names = tuple(f"{file}.log" for file in range(len(streams)))
    return compress(names, cut, plant(), READING, threads=threads, progress=progress)


def test_files_are_counted_apart_and_their_lines_come_in_order():
    found = read(b"one\ntwo\n", b"", b"three\npump 3 leaks")
    assert [(f.name, f.bytes, f.lines, f.kept_lines) for f in found.files] == [
        ("log0", 8, 2, 2),
        ("log1", 0, 0, 0),
        ("log2", 18, 2, 2),
    ]
    assert [(line.file, line.number, line.raw) for line in found.lines] == [
        *[(0, 1, "one"), (0, 2, "two"), (2, 1, "three"), (2, 2, "pump 3 leaks")]
    ]
    assert found.total_lines == 4


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_counts_each_byte_once(threads):
    told = []
    data = b"x" * 1000 + b"\npump 3 leaks\n" * 30
    from_streams(io.BytesIO(data), io.BytesIO(data), threads=threads, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 2 * len(data)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from([b"a" * 200, b"drop no. 3", b"\n", b"pump 3 leaks", b" ", b"\0"])),
    st.integers(24, 100),
)
def test_a_line_counts_once_in_every_figure_however_it_is_cut(parts, size):
    data = b"".join(parts)
    found = from_streams(io.BytesIO(data), size=size)
    (file,) = found.files
    assert file.lines == data.count(b"\n") + (data[-1:] not in (b"\n", b""))
    assert 0 <= file.kept_lines <= file.lines
    blank = sum(not line for line in data.split(b"\n")[: file.lines])
    assert sum(template.count for template in found.templates) == file.kept_lines - blank
    assert all(count >= 0 for count in found.removed.values())
    assert all(1 <= line.number <= file.lines for line in found.lines)
    assert [line.number for line in found.lines] == sorted(line.number for line in found.lines)


def test_removed_lines_are_told_by_filter():
    found = read(b"".join(ROUTINE % n for n in range(300)) + b"the tray empty\n" * 100 + b"x\n")
    assert found.removed == {"drops": 400}
    large = read(b"".join(ROUTINE % n for n in range(200_000)) + b"gauge 3 reads 1\n" * 100_000)
    assert sum(large.removed.values()) == pytest.approx(300_000, rel=0.01)
    assert large.removed["drops"] == pytest.approx(200_000, rel=0.2)


def test_a_log_of_routine_lines_only_has_no_templates():
    found = read(b"".join(ROUTINE % n for n in range(3000)))
    assert found.templates == ()
    assert found.files[0].kept_lines == 0
    assert len(found.lines) == 240


def test_readings_of_training_are_taken_from_dropped_lines_too():
    lines = [b"drop no. %d | step: %d loss: %d.5\n" % (n, n, n % 7) for n in range(1, 2001)]
    found = read(b"".join(lines))
    assert found.removed == {"drops": 2000}
    assert (found.points[0].step, found.points[-1].step) == (1, 2000)
    assert all(point.number == point.step for point in found.points)


def test_the_last_state_of_a_redrawn_line_is_read():
    states = b"\r".join(b"warming up %d" % n for n in range(300))
    found = read(states + b"\rstep: 17 loss: 2.5\n")
    assert [(point.step, point.loss) for point in found.points] == [(17, 2.5)]


def test_states_of_a_redrawn_line_are_read_up_to_a_number():
    states = b"\r".join(b"step %d loss 2.5" % step for step in range(1, 3001))
    steps = [p.step for p in from_streams(io.BytesIO(states + b"\n"), size=1 << 20).points]
    assert 16 < len(steps) <= log_module._STATES_SPREAD + 16
    assert steps == sorted(steps)
    assert steps[-1] == 3000
    assert steps[0] < 100


def test_readings_of_very_many_files_are_bounded(monkeypatch):
    monkeypatch.setattr(log_module, "_MOST_POINTS", 500)
    logs = [b"".join(b"step: %d loss: 1.5\n" % n for n in range(50)) for _ in range(40)]
    found = read(*logs)
    assert len(found.points) < 500 + 40 * 4
    assert {point.file for point in found.points} == set(range(40))
    assert {point.step for point in found.points if point.file == 39} == {46, 47, 48, 49}


class Watched(io.RawIOBase):
    """A stream that fails after some bytes and knows which threads have read it."""

    def __init__(self, data, fails):
        self._data = io.BytesIO(data)
        self._fails = fails

    def readable(self):
        return True

    def readinto(self, buffer):
        got = self._data.readinto(buffer)
        if not got and self._fails:
            raise OSError(5, "Input/output error")
        return got


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_file_that_fails_among_others_is_named_and_leaves_no_thread_behind(threads):
    before = threading.active_count()
    good, bad = b"pump 3 leaks\n" * 300, Watched(b"pump 4 leaks\n" * 300, fails=True)
    with pytest.raises(SourceError, match=r"^1\.log: cannot be read: Input/output error$"):
        from_streams(io.BytesIO(good), bad, io.BytesIO(good), threads=threads)
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [1, 2])
def test_a_listener_that_stops_the_reading_is_heard(threads):
    def stop(_done):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        from_streams(io.BytesIO(b"pump 3 leaks\n" * 300), threads=threads, progress=stop)


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_several_threads_find_what_one_finds(threads):
    data = b"".join(b"pump %d leaks\nnote %d\n" % (n, n) + ROUTINE % n for n in range(3000))
    assert read(data, size=5000, threads=threads) == read(data, size=5000)
