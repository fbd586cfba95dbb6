import re
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.compress.scan import Scanner
from app.rulebook.compiled import TRACE
from app.rulebook.edges import possible
from app.rulebook.factor import factor
from app.rulebook.spelling import spell
from app.rulebook.syntax import read
from app.rulebook.tree import bare, chain, weight, width
from tests.own_rules import COMPILED


@cache
def told():
    """Each pattern that the scan looks for, with the lines that its rule must hit."""
    book = COMPILED.rulebook
    rules = [*book.signals, *book.marks, *(rule for rule in book.filters if rule.do == "keep")]
    return [
        (source, [line for hit in rule.hits for line in hit.splitlines()])
        for rule in rules
        for source in rule.match
    ]


@cache
def forms(source):
    """A pattern as written, and as it is first looked for, for Python's `re`."""
    tree = possible(bare(read(source)))
    return re.compile(source.encode()), re.compile(spell(factor(tree)).encode("latin-1"))


def parts(source):
    tree = possible(bare(read(source)))
    return tree, factor(tree)


# What loggers, launchers and other lines put round a message and into it.
NOISE = st.sampled_from(
    [
        b"",
        b" ",
        b"x",
        b"0",
        b"7",
        b":",
        b"[rank3]: ",
        b"\t",
        b"\xff",
        b" failed",
        b"\r",
        b"2026-11-30 ",
    ]
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_whoever_meets_the_whole_pattern_meets_the_part(data):
    source, hits = data.draw(st.sampled_from(told()))
    exact, part = forms(source)
    line = data.draw(st.sampled_from(hits or [""])).encode()
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(line)))
        cut = data.draw(st.sampled_from([0, 0, 1, 5]))
        line = line[:at] + data.draw(NOISE) + line[at + cut :]
    if exact.search(line):
        assert part.search(line)


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.data())
def test_the_part_meets_texts_that_were_made_from_the_pattern(data):
    source, _ = data.draw(st.sampled_from(told()))
    exact, part = forms(source)
    made = data.draw(
        st.from_regex(re.compile(source, re.ASCII), alphabet=st.characters(codec="ascii"))
    )
    for line in made.encode().split(b"\n"):
        if exact.search(line):
            assert part.search(line)


def test_the_scan_finds_every_hit_of_every_rule(compiled):
    lines = [(source, line.encode()) for source, hits in told() for line in hits]
    block = b"".join(line + b"\n" for _, line in lines)
    found = Scanner(compiled).scan(memoryview(block))
    met = set(zip(found.hit_lines.tolist(), found.hit_probes.tolist(), strict=True))
    ids: dict[str, set[int]] = {}
    for number, probe in enumerate(compiled.probes[len(TRACE) :], len(TRACE)):
        ids.setdefault(probe.source, set()).add(number)
    missed = [
        (source, line)
        for number, (source, line) in enumerate(lines)
        if forms(source)[0].search(line) and not {(number, probe) for probe in ids[source]} <= met
    ]
    assert missed == []
    assert len(lines) > 1000


def test_a_part_is_rare_enough_to_stand_for_the_whole():
    for source, _ in told():
        whole, part = parts(source)
        assert weight(part) >= min(9, weight(whole)), source
        assert width(part) <= width(whole), source


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("Xid.*fallen off the bus", "fallen off the bus"),
        ("out of memory: killed process .* anon-rss", "out of memory: killed process "),
        (r"a\d+b.*c", r"a[0-9]+b[^\n]*c"),
        (
            "(?:link down on port.*mlx5|x.*cable is unplugged).*y",
            "link down on port|cable is unplugged",
        ),
    ],
)
def test_of_a_pattern_with_gaps_the_longest_words_are_looked_for(source, part):
    found = re.compile(spell(parts(source)[1]).encode("latin-1"))
    wanted = re.compile(part.encode())
    for line in (b"", source.encode(), part.encode(), *part.encode().split(b"|")):
        assert bool(found.search(line)) == bool(wanted.search(line)), (found, line)


def test_a_pattern_without_enough_words_stays_whole():
    tree = possible(bare(read(r"Xid.*\d+: GPU")))
    assert factor(tree) == tree
    assert factor(chain()) == chain()
