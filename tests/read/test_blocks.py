import io
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import SourceError, SourceTooLarge
from app.read.blocks import BLOCK_BYTES, Buffers, blocks
from app.read.source import Source, sources

LIMIT = 1 << 40


def cut(data, size, count=1):
    """The blocks of a text, each as (data, continues, repeated)."""
    source = Source("x.log", stream=io.BytesIO(data))
    found = []
    for block in blocks(0, source, Buffers(count, size), LIMIT):
        found.append((bytes(block.data), block.continues, block.repeated))
        block.release()
    return found


# What may stand in a log, over few characters so that cuts fall at every kind of place.
texts = st.lists(st.sampled_from([b"a", b"bc", b" ", b"\n", b"\r\n", b"\r", b"\0", b"\xff"]))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(texts.map(b"".join), st.integers(4, 60))
def test_blocks_hold_every_byte_once_but_for_what_they_repeat(data, size):
    found = cut(data, size)
    assert b"".join(block[repeated:] for block, _, repeated in found) == data
    for block, continues, repeated in found:
        assert 0 < len(block) <= size
        assert repeated < len(block)
        assert continues or not repeated
    for (before, _, _), (block, continues, repeated) in zip(found, found[1:], strict=False):
        assert before.endswith(block[:repeated])
        assert continues == (not before.endswith(b"\n"))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(texts.map(b"".join), st.integers(4, 60))
def test_only_a_line_longer_than_half_a_block_is_cut(data, size):
    longest = max(len(line) + 1 for line in data.split(b"\n"))
    assert longest > size // 2 or not any(continues for _, continues, _ in cut(data, size))


def test_an_empty_log_has_no_blocks():
    assert cut(b"", 16) == []


@pytest.mark.parametrize("length", [15, 16, 17, 32, 48])
def test_a_log_that_fills_its_blocks_to_the_byte_is_neither_cut_short_nor_lengthened(length):
    for data in (b"\0" * length, b"abc\n" * (length // 4), b"a" * (length - 1) + b"\n"):
        found = cut(data, 16)
        assert b"".join(block[repeated:] for block, _, repeated in found) == data
        assert all(len(block) > repeated for block, _, repeated in found)


def test_a_long_line_is_cut_at_a_blank_and_what_stands_across_is_given_again():
    words = b"CUDA error: an illegal memory access was encountered; " * 40
    found = cut(words, 400)
    assert len(found) > 5
    for before, block in zip(found, found[1:], strict=False):
        assert before[0].endswith(b" ")
        assert block[2] >= 50
    whole = [block for block, _, _ in found]
    assert sum(block.count(b"illegal memory access") for block in whole) >= 40


def test_blocks_of_blank_lines_are_short_since_each_line_costs(tmp_path):
    data = b"\n" * (4 << 20)
    found = cut(data, 4 << 20)
    assert sum(len(block) for block, _, _ in found) == len(data)
    assert max(len(block) for block, _, _ in found[:4]) <= 512 << 10


def test_a_block_is_of_use_until_it_is_released():
    source = Source("x.log", stream=io.BytesIO(b"one\n" * 4 + b"two\n" * 4))
    buffers = Buffers(3, 16)
    first, second = list(blocks(0, source, buffers, LIMIT))
    assert bytes(first.data) == b"one\n" * 4
    assert bytes(second.data) == b"two\n" * 4


def test_reading_waits_for_a_buffer_that_another_thread_gives_back():
    buffers = Buffers(1, 16)
    source = Source("x.log", stream=io.BytesIO(b"one\n" * 4 + b"two\n" * 4))
    reading = blocks(0, source, buffers, LIMIT)
    first = next(reading)
    timer = threading.Timer(0.02, first.release)
    timer.start()
    assert bytes(next(reading).data) == b"two\n" * 4
    timer.join()


def test_a_fault_gives_the_buffer_back_and_closes_the_file():
    buffers = Buffers(1, 16)
    stream = io.BytesIO(b"one line\n" * 20)
    reading = blocks(0, Source("x.log", stream=stream), buffers, 40)
    for _ in range(3):
        next(reading).release()
    with pytest.raises(SourceTooLarge):
        next(reading)
    assert stream.closed
    assert buffers.take() is not None


def test_a_reader_that_stops_early_closes_the_file(tmp_path):
    stream = io.BytesIO(b"one line\n" * 20)
    reading = blocks(0, Source("x.log", stream=stream), Buffers(2, 16), LIMIT)
    next(reading)
    reading.close()
    assert stream.closed


def test_a_folder_where_a_file_was_is_told(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("step 1\n")
    (source,) = sources([path])
    path.unlink()
    path.mkdir()
    with pytest.raises(SourceError, match=r"a\.log: cannot be read: Is a directory"):
        next(blocks(0, source, Buffers(1), LIMIT))


def test_a_log_that_grows_while_it_is_read_ends_where_it_ended_when_it_was_opened(tmp_path):
    path = tmp_path / "train.log"
    line = b"step 17 loss 2.31\n"
    path.write_bytes(line * 500_000)
    done = threading.Event()

    def write():
        with path.open("ab", buffering=0) as file:
            while not done.wait(0.001):
                file.write(line * 1000)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        opened_at = path.stat().st_size
        reading = blocks(0, sources([path])[0], Buffers(1), LIMIT)
        sizes, ends = [], []
        for block in reading:
            sizes.append(len(block.data))
            ends.append(bytes(block.data[-1:]))
            block.release()
        closed_at = path.stat().st_size
    finally:
        done.set()
        writer.join()
    assert opened_at <= sum(sizes) <= closed_at
    assert sum(sizes) > BLOCK_BYTES
    assert set(ends[:-1]) == {b"\n"}  # the last may end within a line that is half written
