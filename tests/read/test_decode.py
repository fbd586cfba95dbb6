import errno
import gzip
import io
import os
import pickle
import random
import re
import struct
from contextlib import suppress
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import SourceError, SourceTooLarge
from app.read.decode import Text
from app.read.source import Source, sources

LIMIT = 1 << 30
WORDS = b"step 17 loss 2.31\nValueError: shapes (3,) and (4,)\n"
LOG = b"".join(b"%d: " % number + WORDS for number in range(2000))


def drain(text, size=1 << 16):
    """All that is left of a text, read through a buffer of the given size."""
    buffer = memoryview(bytearray(size))
    found = bytearray()
    while got := text.readinto(buffer):
        found += buffer[:got]
    return bytes(found)


def read(source, size=1 << 16, limit=LIMIT):
    text = Text(source, limit)
    found = drain(text, size)
    text.close()
    assert text.given == len(found)
    return found


def packed(data, size=1 << 16):
    return read(Source("x.log", stream=io.BytesIO(data)), size)


def fault(data):
    with pytest.raises(SourceError) as raised:
        packed(data)
    assert str(raised.value).startswith("x.log: ")
    return str(raised.value)


@pytest.mark.parametrize("size", [3, 1000, 1 << 20])
@pytest.mark.parametrize(
    "data",
    [
        LOG,
        gzip.compress(LOG),
        zstd.compress(LOG),
        gzip.compress(LOG[:5000]) + gzip.compress(LOG[5000:]) + bytes(512),
        zstd.compress(LOG[:5000]) + b"\x50\x2a\x4d\x18\x02\0\0\0ab" + zstd.compress(LOG[5000:]),
        b"\x5f\x2a\x4d\x18\x02\0\0\0ab" + zstd.compress(LOG),
        b"\xef\xbb\xbf" + LOG,
        gzip.compress(b"\xef\xbb\xbf" + LOG),
        b"\xff\xfe" + LOG.decode().encode("utf-16-le"),
        b"\xfe\xff" + LOG.decode().encode("utf-16-be"),
        zstd.compress(b"\xff\xfe" + LOG.decode().encode("utf-16-le")),
    ],
    ids=[
        *["plain", "gzip", "zstd", "gzip_members", "zstd_frames", "zstd_skip_first", "bom"],
        *["gzip_bom", "utf16_le", "utf16_be", "zstd_utf16"],
    ],
)
def test_the_same_text_comes_out_however_it_is_packed(data, size):
    assert packed(data, size) == LOG


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a",
        b"\xff",
        b"\xef\xbb",
        b"\x1fplain",
        b"\xff\xfe bad bytes, then plain text\n",
        b"BZhang starts rank 0\n",
        b"PARIS step 1\n",
        b"\0" * 5000 + b"step 1\n",
        b"broken \xc3\x28 utf-8 \xff\xfe\n" * 100,
        "日本語のログ\n".encode("euc-jp") * 50,
        b"\x07\x08\x1b[1m\x0f" * 100 + b"bells and colours\n",
        b"one \x01 stray byte\n" + WORDS * 3,
    ],
)
def test_what_may_be_text_is_left_as_it_is(data):
    assert packed(data) == data


def test_half_a_character_at_the_end_of_utf16_is_replaced():
    assert packed("\ufeffnode 日".encode("utf-16-le") + b"\x00") == "node 日\ufffd".encode()
    assert packed(b"\xff\xfe") == b""


SAFETENSORS = b'{"__metadata__":{"format":"pt"},"w":{"dtype":"BF16","shape":[4096]}}' + b" " * 60


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x7fELF\x02\x01\x01" + bytes(500), "an ELF program"),
        (b"PK\x03\x04\x14\0\0\0model/data.pkl", "a zip archive"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG picture"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF"),
        (b"BZh91AY&SY\x01\x02", "a bzip2 archive"),
        (b"\xfd7zXZ\0\0\x04", "an xz archive"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\x93NUMPY\x01\0v\0{'descr': '<f4'}", "a NumPy array"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (pickle.dumps({"step": 1}, 2), "a Python pickle"),
        (pickle.dumps({"step": 1}, 5), "a Python pickle"),
        (struct.pack("<Q", len(SAFETENSORS)) + SAFETENSORS, "a safetensors file"),
        (b"logs/rank0.log" + bytes(243) + b"ustar\x0000" + bytes(300), "a tar archive"),
        (random.Random(1).randbytes(4096), "binary data"),
        (b"".join(struct.pack("<f", random.gauss(0, 1)) for _ in range(2000)), "binary data"),
        (
            b"".join(struct.pack("<f", random.gauss(0, 0.02))[2:] for _ in range(4000)),
            "binary data",  # bf16
        ),
        (b"".join(struct.pack("<q", random.randrange(50_000)) for _ in range(2000)), "binary data"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
def test_what_is_no_log_is_named_packed_or_not(data, what, pack):
    assert what in fault(pack(data))


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_a_truncated_archive_says_so_wherever_it_ends(pack):
    whole = pack(LOG)
    for end in [*range(4, 40), len(whole) // 2, len(whole) - 5, len(whole) - 1]:
        assert "ends too early: the file is truncated" in fault(whole[:end]), end


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from([gzip.compress, zstd.compress]), st.data())
def test_a_damaged_archive_gives_its_text_or_one_clear_error(pack, data):
    whole = bytearray(pack(LOG[:3000]))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(2, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(SourceError):
        packed(bytes(whole))


def test_damage_is_told_with_the_place():
    whole = bytearray(gzip.compress(LOG))
    whole[-6] ^= 1  # within the check sum
    assert "the compressed data is damaged: CRC check failed" in fault(bytes(whole))
    assert re.search(r"\(after \d{4,} bytes of text\)$", fault(bytes(whole)))


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_a_bomb_is_stopped_at_the_limit(pack):
    bomb = pack(bytes(64 << 20))
    assert len(bomb) < 100_000
    text = Text(Source("x.log", stream=io.BytesIO(bomb)), 1 << 20)
    with pytest.raises(SourceTooLarge, match=r"^x\.log: more than 1048576 bytes of text"):
        drain(text)
    assert text.given <= (1 << 20) + (1 << 18)


def test_a_plain_log_of_exactly_the_limit_is_read():
    assert read(Source("x.log", stream=io.BytesIO(LOG)), limit=len(LOG)) == LOG
    with pytest.raises(SourceTooLarge):
        read(Source("x.log", stream=io.BytesIO(LOG)), limit=len(LOG) - 1)


def test_what_a_file_gains_after_it_was_opened_is_left_for_the_next_time(tmp_path):
    path = tmp_path / "train.log"
    path.write_bytes(LOG)
    text = Text(sources([path])[0], LIMIT)
    with path.open("ab") as writer:
        writer.write(b"one line more\n")
    assert drain(text) == LOG
    text.close()


def test_a_file_that_shrinks_while_it_is_read_ends_early(tmp_path):
    path = tmp_path / "train.log"
    path.write_bytes(LOG)
    text = Text(sources([path])[0], LIMIT)
    os.truncate(path, 70_000)
    assert drain(text) == LOG[:70_000]
    text.close()


def test_a_stream_that_unpacks_a_file_is_read_to_its_own_end(tmp_path):
    path = tmp_path / "train.log.gz"
    path.write_bytes(gzip.compress(LOG))
    with gzip.open(path) as stream:
        assert read(Source("x.log", stream=stream)) == LOG


def test_a_file_that_hides_its_size_is_read_to_its_end():
    (source,) = sources([Path("/proc/self/status")])
    assert b"VmRSS" in read(source)


class Failing(io.RawIOBase):
    """A stream whose disk fails after some bytes."""

    def __init__(self, data):
        self._data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        got = self._data.readinto(buffer)
        if not got:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return got


@pytest.mark.parametrize("data", [b"", LOG, gzip.compress(LOG)[:5000], zstd.compress(LOG)[:900]])
def test_a_disk_that_fails_is_told(data):
    with pytest.raises(SourceError, match=r"^x\.log: cannot be read: Input/output error$"):
        read(Source("x.log", stream=Failing(data)))


def test_a_file_that_is_refused_is_closed(tmp_path):
    path = tmp_path / "model.log"
    path.write_bytes(b"\x7fELF" + bytes(100))
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(SourceError, match=r"^model\.log: not a log but an ELF program$") as raised:
        Text(sources([path])[0], LIMIT)
    assert len(os.listdir("/proc/self/fd")) == before, raised
