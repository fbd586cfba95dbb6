import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.compress import template
from app.compress.scan import Scanner
from app.compress.template import MAX_TEMPLATES, Templates, template_of, with_printers
from app.model import Line, Template
from tests.compress.plant import plant

SCANNER = Scanner(plant())


def folded(*blocks, file=0, into=None):
    """Templates of some blocks of lines, of which nothing is dropped."""
    found = into or Templates()
    number = 1
    for block in blocks:
        scanned = SCANNER.scan(memoryview(bytearray(b"".join(line + b"\n" for line in block))))
        found.add(file, number, scanned)
        number += len(block)
    return found.templates()


def test_lines_that_differ_in_numbers_alone_are_one_template():
    (found,) = folded([b"step %d of 9000, loss %d.%03d" % (n, n % 7, n) for n in range(500)])
    assert found.text == "step # of #, loss #"
    assert found.count == 500
    assert (found.first, found.last) == ((0, 1), (0, 500))
    assert found.example == "step 0 of 9000, loss 0.000"


@pytest.mark.parametrize(
    ("lines", "mask"),
    [
        ([b"pid 7 left", b"pid 4711 left"], "pid # left"),
        ([b"at 0x7f3a00 in", b"at 0xdeadbeef in"], "at # in"),
        (
            [
                b"id 1c1f8a52-0d3e-4c55-9b1e-0c2c8c1a7f00",
                b"id deadbeef-dead-4eef-8ead-0123456789ab",
            ],
            "id #",
        ),
        ([b"mac 0c:42:a1:5b:7c:d8 up", b"mac ec:0d:9a:8b:7c:01 up"], "mac # up"),
        ([b"shard 5f3a9b01c2d4 gone", b"shard 0a1b2c3d4e5f gone"], "shard # gone"),
        ([b"loss -1.5e-3 now", b"loss +2.25E+10 now"], "loss # now"),
        ([b"10.0.3.17:29500 refused", b"10.12.0.4:2 refused"], "# refused"),
    ],
)
def test_ids_and_addresses_are_masked(lines, mask):
    assert [(found.text, found.count) for found in folded(lines)] == [(mask, len(lines))]


def test_words_are_told_apart_even_where_they_are_made_of_hex_letters():
    lines = [b"bad 1", b"dead 1", b"added 1", b"face 1", b"rank_a 1", b"rank_b 1"]
    assert [found.text for found in folded(lines)] == [
        *["bad #", "dead #", "added #", "face #", "rank_a #", "rank_b #"]
    ]


def test_first_and_last_lines_hold_where_a_template_has_several_shapes():
    lines = [b"at 0x1f", b"at deadbeef-dead-4eef-8ead-0123456789ab", b"at 0x2", b"at 17", b"x"]
    found = {t.text: t for t in folded(lines, lines[::-1])}
    assert found["at #"].count == 8
    assert (found["at #"].first, found["at #"].last) == ((0, 1), (0, 10))
    assert (found["x"].first, found["x"].last) == ((0, 5), (0, 6))


def test_templates_are_counted_over_files():
    found = Templates()
    folded([b"step 1", b"lost"], into=found)
    (step, lost) = folded([b"step 2"], [b"step 3"], file=1, into=found)
    assert (step.text, step.count, step.first, step.last) == ("step #", 3, (0, 1), (1, 2))
    assert (lost.text, lost.count, lost.first, lost.last) == ("lost", 1, (0, 2), (0, 2))


def test_line_ends_do_not_matter_and_blank_lines_are_of_no_kind():
    (found,) = folded([b"", b"step 1", b"\r", b"step 2\r", b"", b"\r"])
    assert (found.text, found.count, found.first, found.last) == ("step #", 2, (0, 2), (0, 4))


def test_lines_that_open_a_template_are_told():
    found = Templates()
    block = b"step 1\nlost\nstep 2\nlost\nfound\n"
    assert found.add(0, 1, SCANNER.scan(memoryview(block))) == [0, 1, 4]
    assert found.add(0, 6, SCANNER.scan(memoryview(block + b"new\n"))) == [5]


words = st.sampled_from(
    [b"step", b"17", b"4711", b"0x1f", b"a1b2", b"bad", b"-1.5e3", b"\xff", b"\0"]
)
logs = st.lists(st.lists(words, min_size=1, max_size=5).map(b" ".join), min_size=1, max_size=30)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(logs, st.integers(1, 5))
def test_every_line_is_counted_once_and_places_are_those_of_a_plain_count(lines, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template, "_AT_ONCE", at_once)
        found = folded(lines)
    assert sum(t.count for t in found) == len(lines)
    assert [t.first for t in found] == sorted(t.first for t in found)
    # The first line of a shape chooses the template of all lines of that shape.
    assert len(found) <= len(set(map(template_of, lines)))
    for t in found:
        assert t.example == lines[t.first[1] - 1].decode("utf-8", "replace")
        assert template_of(lines[t.first[1] - 1]).decode("utf-8", "replace") == t.text
        assert t.first <= t.last


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.text("019afgFG \x00é").map(str.encode), min_size=1, max_size=5))
def test_shapes_are_those_that_a_regex_would_write(lines):
    runs = re.compile(rb"[a-fA-F]*[0-9][0-9a-fA-F]*")
    assert template._shapes(lines) == [runs.sub(b"0", line) for line in lines]


def _words(number):
    """A word for a number, without digits."""
    return bytes(b"ghijklmnop"[int(digit)] for digit in str(number))


def test_kinds_beyond_the_most_are_counted_together():
    block = [b"word " + _words(n) for n in range(MAX_TEMPLATES + 700)]
    found = folded(block, block)
    assert len(found) == MAX_TEMPLATES + 1
    rest = next(t for t in found if t.text == "…")
    assert rest.count == 2 * 700
    assert (rest.first, rest.last) == ((0, MAX_TEMPLATES + 1), (0, 2 * len(block)))
    assert all(t.count == 2 for t in found if t is not rest)


def test_very_long_lines_cost_no_more_than_their_beginning():
    lines = [b"a" * 3000 + b" %d" % n for n in range(3)] + [b"b" * 1_000_000]
    found = folded(lines)
    assert [(len(t.text), len(t.example), t.count) for t in found] == [
        (2048, 1000, 3),
        (2048, 1000, 1),
    ]


def test_memory_of_shapes_is_bounded():
    found = Templates()
    for begin in range(0, 30_000, 1000):
        lines = [(_words(n) + b" ") * 60 for n in range(begin, begin + 1000)]
        folded(lines, into=found)
    held = sum(len(shape) for shape in found._shapes._of)
    assert held < 5 << 20
    assert sum(t.count for t in found.templates()) == 30_000


def test_the_ranks_and_hosts_that_print_a_template_are_told():
    templates = (Template("[rank#]: shard # is slow", 2, (0, 1), (0, 2), "x"),)
    lines = [
        Line(0, 1, "[rank3]: shard 7 is slow", "shard 7 is slow", rank=3, host="n1"),
        Line(0, 2, "[rank12]: shard 9 is slow", "shard 9 is slow", rank=12, host="n2"),
        Line(0, 3, "[rank5]: all is well", "all is well", rank=5),
    ]
    (told,) = with_printers(templates, lines)
    assert (told.ranks, told.hosts) == ((3, 12), ("n1", "n2"))
