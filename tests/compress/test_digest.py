import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.compress.digest import digest
from app.model import Attempt, Compressed, Line, LogFile, Template
from app.token_count import tokens
from tests.compress.plant import read


def a_line(number, raw, file=0):
    return Line(file=file, number=number, raw=raw, text=raw)


def a_log(*lines, files=("train.log",), templates=(), removed=None):
    return Compressed(
        files=tuple(LogFile(name, 100, 5000, len(lines)) for name in files),
        lines=tuple(lines),
        templates=tuple(templates),
        points=(),
        removed=removed or {},
    )


def shown(page, title):
    """The lines of one section."""
    _, _, rest = page.partition(f"== {title} ==\n")
    return rest.partition("\n==")[0].splitlines()


def test_the_first_faults_stand_first_with_their_neighbours_and_original_numbers():
    lines = [a_line(number, f"line {number}") for number in range(100, 1200, 100)]
    page = digest(a_log(*lines), [(lines[5], "PumpFault: it leaks")], [], 6000)
    assert shown(page, "First faults") == [
        "-- PumpFault: it leaks",
        "600: line 600",
    ]
    assert shown(page, "Round the faults") == [
        f"{number}: line {number}" for number in range(300, 1000, 100) if number != 600
    ]
    assert page.index("First faults") < page.index("End of the log")


def test_a_page_without_faults_begins_with_the_end_of_the_log():
    page = digest(a_log(a_line(7, "last words")), [], [], 6000)
    assert page.startswith("train.log: 5000 lines, 100 bytes; 1 lines are not routine\n")
    assert shown(page, "End of the log") == ["7: last words"]
    assert "First faults" not in page


def test_a_neighbour_of_two_faults_is_shown_once():
    lines = [a_line(number, f"line {number}") for number in range(1, 9)]
    page = digest(
        a_log(*lines), [(lines[2], "one"), (lines[4], "two"), (lines[2], "three")], [], 6000
    )
    faults = shown(page, "First faults")
    assert len(faults) == len(set(faults))
    assert "-- three" not in faults


def test_of_several_pieces_of_one_line_the_faulty_one_is_shown():
    lines = [a_line(3, f"state {n}") for n in range(50)]
    faults = shown(digest(a_log(*lines), [(lines[9], "it leaks")], [], 6000), "First faults")
    assert "3: state 9" in faults
    assert "3: state 40" not in faults


def test_lines_of_several_files_say_which():
    lines = [a_line(1, "one"), a_line(9, "nine", file=1)]
    page = digest(a_log(*lines, files=("a.log", "b.log")), [(lines[1], "it leaks")], [], 6000)
    assert page.startswith("2 files: 10000 lines")
    assert shown(page, "First faults") == ["-- it leaks", "b.log:9: nine"]
    assert shown(page, "End of the log") == ["a.log:1: one", "b.log:9: nine"]


def test_kinds_are_listed_rarest_first():
    kinds = [
        Template("often #", 900, (0, 1), (0, 990), "often 1"),
        Template("once", 1, (0, 17), (0, 17), "once"),
    ]
    page = digest(a_log(templates=kinds), [], [], 6000)
    assert shown(page, "Kinds of lines, rarest first") == [
        "      1 x once  (line 17)",
        "    900 x often #  (line 1)",
    ]


def test_what_filters_took_away_is_told():
    page = digest(a_log(removed={"bars": 4321}), [], [], 6000)
    assert shown(page, "Taken away by filters") == ["     4321 lines: bars"]


def test_attempts_are_told_where_there_are_several():
    attempts = [Attempt(1, {0: (1, 40)}), Attempt(2, {0: (41, 90)})]
    page = digest(a_log(), [], attempts, 6000)
    assert page.splitlines()[1:3] == ["attempt 1: from line 1", "attempt 2: from line 41"]
    assert "attempt" not in digest(a_log(), [], attempts[:1], 6000)


def test_what_does_not_fit_is_counted():
    lines = [a_line(number, "word " * 40) for number in range(1, 500)]
    page = digest(a_log(*lines), [(line, "why") for line in lines], [], 2000)
    faults = shown(page, "First faults")
    (left_out,) = (line for line in faults if line.startswith("…"))
    in_all = digest(a_log(*lines), [(line, "why") for line in lines], [], 10**7)
    assert int(left_out.split()[1]) == len(shown(in_all, "First faults")) - len(faults) + 1
    assert "== End of the log ==" in page


def test_a_section_for_which_there_is_no_room_is_counted_too():
    kinds = [Template("kind", 1, (0, 1), (0, 1), "kind")]
    log = a_log(a_line(1, "x"), templates=kinds, removed={"bars": 3})
    page = digest(log, [], [], 60)
    assert re.search(r"… [12] sections more\n$", page)


def test_the_fault_within_a_long_line_is_within_the_quotation():
    filler = b"abcdefgh " * 20_000
    log = read(b"ok\n" + filler + b"pump 41 leaks" + filler)
    (fault,) = (line for line in log.lines if line.met)
    assert "pump 41 leaks" in digest(log, [(fault, "it leaks")], [], 6000)


def test_nothing_in_a_log_can_break_a_line_of_the_page():
    lines = [a_line(1, "a\rb\tc\x1b[31m\0d\x85e\u2028f")]
    kinds = [Template("e\rf\0", 1, (0, 1), (0, 1), "e")]
    page = digest(a_log(*lines, templates=kinds, files=("x\n== y ==.log",)), [], [], 6000)
    assert "1: a b c [31m d e f" in page.splitlines()
    assert all(char == "\n" or char.isprintable() for char in page)
    assert "== y ==" not in [line[:7] for line in page.splitlines()]


@pytest.mark.parametrize(
    ("text", "least"), [("word " * 100, 100), ("日本語" * 100, 300), ("0x7f3a" * 100, 200), ("", 0)]
)
def test_tokens_are_rather_over_than_underestimated(text, least):
    assert tokens(text) >= least


words = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ["日" * 400, "a" * 900]
)
lines = st.lists(st.builds(a_line, st.integers(1, 9999), words), max_size=60)
kinds = st.lists(
    st.builds(Template, words, st.integers(1, 9), st.just((0, 1)), st.just((0, 2)), words),
    max_size=60,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    lines,
    kinds,
    st.lists(st.tuples(st.integers(0, 59), words), max_size=8),
    st.dictionaries(words, st.integers(0, 10**9), max_size=9),
    words,
    st.integers(0, 3000),
)
def test_the_page_stays_within_its_budget(lines, kinds, faults, removed, name, budget):
    log = a_log(*lines, templates=kinds, removed=removed, files=(name,))
    chosen = [(lines[index], why) for index, why in faults if index < len(lines)]
    attempts = [Attempt(n, {0: (n, n)}) for n in range(len(faults))]
    page = digest(log, chosen, attempts, budget)
    assert tokens(page) <= budget
    for line in page.splitlines():
        number = re.match(r"(\d+): ", line)
        assert number is None or int(number[1]) in {line.number for line in lines}
