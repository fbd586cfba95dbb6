import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.compress import scan
from app.compress.scan import Scanner
from app.rulebook.compiled import TRACE
from tests.compress.plant import plant, read

SCANNER = Scanner(plant())
PROBES = [re.compile(probe.source.encode()) for probe in plant().probes]
DROPPED = [
    re.compile(source.encode())
    for rule in plant().rulebook.filters
    if rule.do == "drop"
    for source in rule.match
]
LEAK = next(n for n, probe in enumerate(plant().probes) if "leaks" in probe.source)

FRAGMENTS = [
    *[b"pump 3 leaks", b"pump 41 leaks one drip", b"pump 3 ", b"leaks", b"gauge 7 reads 12"],
    *[b"gauge 3 reads 1", b"waited 30 s for the pump", b"the hall opens", b"a drop no. 3"],
    *[b"tray empty", b"Traceback (most recent call last):", b"ValueError: 3", b"  what():"],
    *[b" ", b"\n", b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\t", b"\xe2\x96\x88", b"\0" * 40],
]
COLOURS = [b"\x1b[31m", b"\x1b[0m", b"\x1b[38;5;9m", b"\x1b]0;title\x07", b"\x1b(B"]
logs = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map(b"".join)
coloured = st.lists(st.sampled_from(FRAGMENTS + COLOURS), max_size=25)


def scanned(data, repeated=0):
    return SCANNER.scan(memoryview(bytearray(data)), repeated)


def pairs(found):
    return list(zip(found.hit_lines.tolist(), found.hit_probes.tolist(), strict=True))


def lines_of(data):
    """Lines as `splitlines` would cut them, were there no line end but `\\n` and `\\r\\n`."""
    lines = data.split(b"\n")
    ended = [line.removesuffix(b"\r") for line in lines[:-1]]
    return [*ended, lines[-1].removesuffix(b"\r")] if lines[-1] else ended


def naive(data):
    """Lines that stay, and which probe meets which line, by Python's `re`."""
    hits = [
        (number, probe)
        for number, line in enumerate(lines_of(data))
        for probe, regex in enumerate(PROBES)
        if regex.search(line)
    ]
    met = {number for number, _ in hits}
    dropped = {n for n, line in enumerate(lines_of(data)) if any(r.search(line) for r in DROPPED)}
    return set(range(len(lines_of(data)))) - dropped | met, hits


@pytest.mark.parametrize("small", [scan._SMALL, 0], ids=["line by line", "through arrow"])
@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=logs)
def test_kept_lines_and_hits_are_those_of_a_loop_with_re(small, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_SMALL", small)
        found = scanned(data)
    kept, hits = naive(data)
    exact = [pair for pair in pairs(found) if pair[1] >= len(TRACE)]
    assert exact == [pair for pair in hits if pair[1] >= len(TRACE)]
    # Parts of tracebacks are looked for without their edges: these may be met more often.
    assert set(hits) <= set(pairs(found))
    assert set(found.kept.tolist()) == kept | {line for line, _ in pairs(found)}
    assert found.lines == len(lines_of(data))
    for number, line in enumerate(lines_of(data)):
        assert found.line(number).rstrip(b"\r\n") == line.rstrip(b"\r")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(coloured)
def test_colours_are_looked_through_wherever_they_stand(parts):
    found = scanned(b"".join(parts) + b"\n")
    bare = scanned(b"".join(part for part in parts if part not in COLOURS) + b"\n")
    assert pairs(found) == pairs(bare)
    assert found.kept.tolist() == bare.kept.tolist()
    assert bytes(found.data) == bytes(bare.data)


@pytest.mark.parametrize(
    ("data", "lines"),
    [(b"\x1b[31m", 1), (b"a\n\x1b[0m", 2), (b"a\n\x1b[0m\n", 2), (b"\x1b[0ma", 1)],
)
def test_a_line_of_colours_alone_counts_as_a_line(data, lines):
    found = scanned(data)
    assert found.lines == lines
    assert found.kept.tolist() == list(range(lines))
    assert read(data + b"\x1b[31m\x1b[0m" * 40, size=64).total_lines == lines + data.endswith(b"\n")


def test_a_colour_within_a_word_hides_no_hit():
    found = scanned(b"ok\n\x1b[1mpu\x1b[31mmp\x1b[0m 3 \x1b[4mle\x1b[0maks\n")
    assert pairs(found) == [(1, LEAK)]
    assert found.line(1) == b"pump 3 leaks\n"


def test_colours_are_taken_out_of_large_blocks_part_by_part(monkeypatch):
    data = b"".join(b"\x1b[%dm%d\x1b[0m\n" % (31 + n % 7, n) for n in range(3000))
    data += b"\x1b[31mx\x1b[0m" * 500 + b"y" * 600
    whole = bytes(scanned(data).data)
    monkeypatch.setattr(scan, "_PART", 97)
    assert bytes(scanned(data).data) == whole
    assert b"\x1b" not in whole


def test_each_hit_is_told_once_with_the_end_of_the_first():
    line = b"pump 3 leaks and pump 4 leaks\n"
    found = scanned(b"\n" + line)
    assert pairs(found) == [(1, LEAK)]
    assert found.hit_ends.tolist() == [1 + len(b"pump 3 leaks")]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(logs, st.sampled_from([1, 7, 64]))
def test_a_block_that_is_scanned_part_by_part_tells_the_same(data, size):
    whole = scanned(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_PART", size)
        found = scanned(data)
    assert pairs(found) == pairs(whole)
    for told in ("starts", "kept", "hit_ends"):
        assert getattr(found, told).tolist() == getattr(whole, told).tolist()


def test_hits_are_the_same_when_they_are_gathered_in_parts(monkeypatch):
    data = (b"pump 3 leaks, waited 30 s for the pump; " * 30 + b"\n") * 3 + b"pump 4 leaks\n" * 50
    whole = scanned(data)
    monkeypatch.setattr(scan, "_HITS", 7)
    parts = scanned(data)
    assert set(pairs(parts)) == set(pairs(whole))
    assert len(pairs(parts)) == len(pairs(whole))
    ends = dict(zip(pairs(whole), whole.hit_ends.tolist(), strict=True))
    assert dict(zip(pairs(parts), parts.hit_ends.tolist(), strict=True)) == ends
    assert parts.hit_lines.tolist() == sorted(parts.hit_lines.tolist())


def test_what_was_told_with_the_block_before_is_not_told_again():
    piece = b"pump 3 leaks and then waited 30 s for the pump"
    assert len(pairs(scanned(piece))) == 2
    assert pairs(scanned(piece, repeated=12)) == [p for p in pairs(scanned(piece)) if p[1] != LEAK]
    assert pairs(scanned(piece, repeated=11)) == pairs(scanned(piece))
    painted = b"\x1b[31mpump 3 leaks\x1b[0m and then"
    assert pairs(scanned(painted, repeated=17)) == []


@pytest.mark.parametrize("data", [b"", b"\n", b"\n\n\n", b"\0", b"\r", b"a", b"\xff\n"])
def test_next_to_nothing_is_scanned_too(data):
    found = scanned(data)
    assert found.lines == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    assert found.kept.tolist() == list(range(found.lines))
    assert len(found.starts) == found.lines + 1


def test_only_the_data_of_a_buffer_is_scanned():
    buffer = bytearray(b"pump 3 leaks\npump 4 leaks\n\x1b[31m")
    found = SCANNER.scan(memoryview(buffer)[:13])
    assert pairs(found) == [(0, LEAK)]
    assert found.lines == 1


def test_one_scanner_serves_several_threads():
    blocks = [b"pump %d leaks\nok\n" % n * (n % 50 + 1) for n in range(200)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(scanned, blocks))
    assert [len(f.hit_lines) for f in found] == [n % 50 + 1 for n in range(200)]


@settings(max_examples=120, deadline=None, derandomize=True)
@given(logs.map(lambda log: log + b"\n"), st.integers(1, 400), st.integers(1, 3))
def test_a_log_reads_alike_through_blocks_of_any_size(log, extra, threads):
    longest = max(map(len, log.split(b"\n")))
    assert read(log, size=2 * longest + extra, threads=threads) == read(log)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(logs, st.integers(24, 400), st.integers(1, 2))
def test_a_line_that_is_cut_in_pieces_loses_no_hit(log, size, threads):
    whole, found = read(log), read(log, size=size, threads=threads)
    assert found.total_lines == whole.total_lines
    assert found.files[0].bytes == len(log)

    def met(compressed):
        return {(line.number, probe) for line in compressed.lines for probe in line.met}

    # What stands across a cut is found if it is no longer than what is repeated: an eighth.
    assert {pair for pair in met(whole) if size >= 200} <= met(found)
