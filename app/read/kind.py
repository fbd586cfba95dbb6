"""Tell from the first bytes of a file what it is: text, packed text, or no log at all."""

import codecs
from typing import Literal

Packing = Literal["gzip", "zstd"]

HEAD_BYTES = 4096
_FEWEST = 64
# No text holds these, but for a stray one: bells, backspaces, shifts and escapes are left out.
_CONTROL = bytes([*range(1, 7), *range(16, 27), *range(28, 32)])
# Floats in two bytes, the least conspicuous of tensors, hold four in a hundred of them.
_MOST_CONTROL = 0.03
_PROGRAMS = {
    b"\x7fELF": "an ELF program",
    b"PK\x03\x04": "a zip archive (a checkpoint?)",
    b"\x89PNG": "a PNG picture",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"%PDF-": "a PDF",
    b"\x80\x02": "a Python pickle",
    b"\x80\x03": "a Python pickle",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
    b"\xfd7zXZ": "an xz archive; give it as gzip or zstd",
    b"\x04\x22\x4d\x18": "an lz4 archive; give it as gzip or zstd",
    b"SQLite format 3": "an SQLite database",
}
_BZIP2 = b"BZh", b"1AY&SY"  # a digit stands between them
_TAR = slice(257, 262), b"ustar"
_SAFETENSORS = slice(5, 10), b'\0\0\0{"'  # behind the low bytes of the header's length


def packing(head: bytes) -> Packing | None:
    """Say how a file is packed, if it is."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    # A zstd file may begin with a frame that is to be skipped: pzstd writes one.
    if head.startswith(b"\x28\xb5\x2f\xfd") or (
        head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] < 0x60
    ):
        return "zstd"
    return None


def no_log(head: bytes) -> str | None:
    """Say what a file is that cannot be a log; None where it may be one."""
    for magic, what in _PROGRAMS.items():
        if head.startswith(magic):
            return what
    if head.startswith(_BZIP2[0]) and head.startswith(_BZIP2[1], 4):
        return "a bzip2 archive; give it as gzip or zstd"
    if head[_TAR[0]] == _TAR[1]:
        return "a tar archive; give the files that it holds"
    if head[_SAFETENSORS[0]] == _SAFETENSORS[1]:
        return "a safetensors file (a checkpoint?)"
    return "binary data" if _is_binary(head) else None


def _is_binary(head: bytes) -> bool:
    """Tell programs and tensors from text with some bad bytes, NUL runs, bells and backspaces."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    text = head.replace(b"\0", b"")
    control = len(text) - len(text.translate(None, _CONTROL))
    return len(text) > _FEWEST and control > len(text) * _MOST_CONTROL
