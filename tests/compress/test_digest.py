import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.compress.digest import digest
from app.model import Attempt, Compressed, Line, LogFile, Point, Template
from app.token_count import tokens
from tests.compress.plant import read

WHOLE = "The log, without routine lines"


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


def spelt(number):
    """A number in letters, so that no two lines are alike."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def shown(page, title):
    """The lines of one section."""
    _, _, rest = page.partition(f"== {title} ==\n")
    return rest.partition("\n==")[0].splitlines()


def test_the_first_faults_stand_first_and_a_short_log_follows_whole_in_its_order():
    lines = [a_line(number, f"line {number}") for number in range(1, 10)]
    page = digest(a_log(*lines), [(lines[5], "PumpFault: it leaks")], [], 6000)
    assert shown(page, "First faults") == ["-- PumpFault: it leaks", "6: line 6"]
    assert shown(page, WHOLE) == [f"{number}: line {number}" for number in range(1, 10)]
    assert page.index("First faults") < page.index(WHOLE)


def test_lines_that_filters_took_away_leave_a_note_where_they_stood():
    page = digest(a_log(a_line(3, "begin"), a_line(40, "end")), [], [], 6000)
    assert shown(page, WHOLE) == ["… 2 lines", "3: begin", "… 36 lines", "40: end"]


def test_a_page_without_faults_begins_with_the_log():
    page = digest(a_log(a_line(1, "last words")), [], [], 6000)
    assert page.startswith("train.log: 5000 lines, 100 bytes; 1 lines are not routine\n")
    assert shown(page, WHOLE) == ["1: last words"]
    assert "First faults" not in page


def test_of_a_long_log_the_neighbours_of_a_fault_and_the_end_are_shown():
    lines = [a_line(number, f"{spelt(number)} " + "word " * 40) for number in range(1, 500)]
    page = digest(a_log(*lines), [(lines[250], "it leaks")], [], 2000)
    numbers = [int(n) for n in re.findall(r"^(\d+): ", page, re.MULTILINE)]
    assert {249, 250, 251, 252, 253, 499, 498} <= set(numbers)
    assert "== From the log ==" in page


def test_the_traceback_of_a_long_log_is_shown_whole_and_once():
    rows = []
    for rank in range(40):
        rows += [
            (rank, "Traceback (most recent call last):"),
            (rank, '  File "train.py", line 12, in <module>'),
            (rank, "    step(batch)"),
            (rank, f"KeyError: 'rank {rank} lacks its shard'"),
        ]
    rows += [(None, f"note {n} " + "of the launcher " * 12) for n in range(200)]
    lines = [
        Line(0, n, text if rank is None else f"[rank{rank}]: {text}", text, rank)
        for n, (rank, text) in enumerate(rows, 1)
    ]
    page = digest(a_log(*lines), [], [], 1500)
    block = [f"{line.number}: {line.raw}" for line in lines[:4]]
    assert [row for row in page.splitlines() if row in block] == block
    assert sum("lacks its shard" in row for row in page.splitlines()) <= 5


def test_of_settings_the_first_lines_and_the_last_are_shown():
    dump = [f'    "{spelt(n)}": {n},' for n in range(100, 999)]
    steps = [f"step {spelt(n)} is done" for n in range(90)]
    rows = [*steps[:8], "the engine starts {", *dump, "}", *steps]
    lines = [a_line(n, row) for n, row in enumerate(rows, 1)]
    told = shown(digest(a_log(*lines), [], [], 6000), WHOLE)
    head = [f"{n}: {rows[n - 1]}" for n in range(1, 12)]
    assert told[:13] == [*head, "… 897 lines of settings", "909: }"]
    assert told[-1] == "999: step ij is done"


def test_settings_that_speak_of_trouble_or_are_faults_are_shown():
    dump = [f"{spelt(n)} ...... True" for n in range(100, 400)]
    dump[90] = "exit_code: 137"
    lines = [a_line(n, row) for n, row in enumerate(dump, 1)]
    told = shown(digest(a_log(*lines), [(lines[200], "it leaks")], [], 6000), WHOLE)
    assert "91: exit_code: 137" in told
    assert {f"{n}: {dump[n - 1]}" for n in range(199, 204)} <= set(told)


def test_a_report_of_a_job_is_no_dump_of_settings():
    rows = [f"{spelt(n)} is read from its shard" for n in range(700)]
    report = ["time : noon", "rank : 3", "exitcode : 1", "error_file: none", "host : a"]
    lines = [a_line(n, row) for n, row in enumerate([*rows, *report], 1)]
    told = shown(digest(a_log(*lines), [], [], 3000), "From the log")
    assert [row.partition(": ")[2] for row in told[-5:]] == report


def test_what_comes_again_and_again_is_shown_where_it_begins_and_ends():
    rows = [f"iter {n}: 3.{n} s, {'x' * 80}" for n in range(300)]
    rows[150] = "the pump could not be reached"
    lines = [a_line(n, row) for n, row in enumerate(rows, 1)]
    told = shown(digest(a_log(*lines), [(lines[150], "it leaks")], [], 6000), WHOLE)
    assert told[:3] == [f"1: {rows[0]}", f"2: {rows[1]}", f"3: {rows[2]}"]
    assert "… 140 lines like others" in told or "… 141 lines like others" in told
    assert f"150: {rows[149]}" in told
    assert f"152: {rows[151]}" in told
    assert told[-6:] == [f"{n}: {rows[n - 1]}" for n in range(295, 301)]
    assert len(told) < 30


def test_a_metric_that_is_no_number_is_not_taken_for_one_of_the_others():
    rows = [f"step {n} loss 2.{n} nan iterations 0 {'x' * 60}" for n in range(300)]
    rows[140] = f"step 140 loss nan nan iterations 1 {'x' * 60}"
    points = [
        Point(0, n, "s", step=n, loss=float("nan") if n == 141 else 2.0, text=row)
        for n, row in enumerate(rows, 1)
    ]
    lines = [a_line(n, row) for n, row in enumerate(rows, 1)]
    page = digest(replace(a_log(*lines), points=tuple(points)), [], [], 6000)
    assert f"141: {rows[140]}" in page.splitlines()
    assert tokens(page) < 1600


def test_the_first_traceback_is_shown_whole_before_others_have_more_than_their_end():
    def traceback(rank):
        frames = [f'  File "{spelt(n)}.py", line {n + rank}, in {spelt(n)}' for n in range(40)]
        return ["Traceback (most recent call last):", *frames, f"KeyError: 'shard {spelt(rank)}'"]

    rows = [(3, row) for row in traceback(3)] + [(5, row) for row in traceback(5)]
    rows += [(None, f"note {spelt(n)} {'of the launcher ' * 12}") for n in range(300)]
    lines = [Line(0, n, row, row, rank) for n, (rank, row) in enumerate(rows, 1)]
    numbers = {int(n) for n in re.findall(r"^(\d+): ", digest(a_log(*lines), [], [], 4000), re.M)}
    assert set(range(1, 43)) <= numbers
    assert {43, 84} <= numbers
    assert 60 not in numbers


@pytest.mark.parametrize("head", ["", "[E411 fake.py:1063] [0/0] "])
def test_a_traceback_within_a_report_or_behind_words_of_a_logger_ends_with_its_exception(head):
    inner = [f'    File "{spelt(n)}.py", line 7, in {spelt(n)}' for n in range(20)]
    begin = "" if head else "  traceback : "
    rows = [f"{head}{begin}Traceback (most recent call last):", *(head + row for row in inner)]
    rows += [f"{head}{'' if head else '  '}PumpError: it leaks"]
    rows += [f"note {spelt(n)} {'of the launcher ' * 12}" for n in range(300)]
    lines = [a_line(n, row) for n, row in enumerate(rows, 1)]
    numbers = [int(n) for n in re.findall(r"^(\d+): ", digest(a_log(*lines), [], [], 2500), re.M)]
    assert set(range(1, 23)) <= set(numbers)


def test_a_long_line_tells_how_much_of_it_is_left_out():
    lines = [a_line(n, f"{spelt(n)} " + "word " * 300) for n in range(1, 300)]
    page = digest(a_log(*lines), [(lines[7], "it leaks")], [], 6000)
    (fault, *_) = shown(page, "First faults")[1:]
    assert fault == f"8: {lines[7].raw[:1000]}…(+{len(lines[7].raw) - 1000} characters)"
    shorter = shown(page, "From the log")[-1]
    assert shorter.endswith(f"…(+{len(lines[-1].raw) - 400} characters)")


def test_the_end_and_the_beginning_of_the_last_attempt_go_before_what_stands_far_from_faults():
    lines = [a_line(n, f"{spelt(n)} " + "word " * 50) for n in range(1, 600)]
    attempts = [Attempt(1, {0: (1, 99)}), Attempt(2, {0: (100, 599)})]
    faults = [(lines[n], "it leaks") for n in range(200, 500, 75)]
    page = digest(a_log(*lines), faults, attempts, 6000)
    numbers = {int(n) for n in re.findall(r"^(\d+): ", page, re.MULTILINE)}
    assert {*range(100, 106), *range(594, 600)} <= numbers
    assert {fault.number + near for fault, _ in faults for near in (-1, 0, 1)} <= numbers


def test_a_line_of_trouble_is_shown_however_long_the_log_is():
    lines = [a_line(n, f"shard {n} " + "is read " * 20) for n in range(1, 900)]
    lines[400] = a_line(401, "the pump could not be reached")
    page = digest(a_log(*lines), [], [], 1500)
    assert "401: the pump could not be reached" in page.splitlines()


def test_the_last_words_of_the_rank_that_fell_silent_first_are_shown():
    lines = [
        Line(0, n, f"{n % 8}: reads {n} {'x' * 80}", f"reads {n} {'x' * 80}", n % 8, time=float(n))
        for n in range(1, 900)
        if n % 8 != 5 or n < 300
    ]
    page = digest(a_log(*lines), [], [], 2000)
    assert "293: 5: reads 293" in page


def test_of_the_progress_the_turns_are_told_as_they_were_printed():
    points = [
        Point(0, n, "s", step=n, loss=1.0 if n < 70 else 9.0, text=f"step {n} loss")
        for n in range(99)
    ]
    page = digest(replace(a_log(a_line(99, "end")), points=tuple(points)), [], [], 6000)
    told = shown(page, "Progress of training")
    assert told[0] == (
        "loss: 99 readings, 1 at step 0 to 9 at step 98; "
        "lowest 1 at step 0, highest 9 at step 70; largest rise from 1 to 9 at step 70; "
        "medians of 10 equal parts: 1, 1, 1, 1, 1, 1, 1, 9, 9, 9"
    )
    assert {"0: step 0 loss", "69: step 69 loss", "70: step 70 loss", "98: step 98 loss"} <= set(
        told
    )
    assert len(told) < 20


def test_of_the_progress_it_is_told_from_when_on_the_loss_was_no_number():
    losses = [2.0, 1.9, *[float("nan")] * 7]
    points = [Point(0, n, "s", loss=loss, text=f"loss {loss}") for n, loss in enumerate(losses, 1)]
    page = digest(replace(a_log(a_line(99, "end")), points=tuple(points)), [], [], 6000)
    assert shown(page, "Progress of training")[0] == (
        "loss: 9 readings, 2 at line 1 to nan at line 9; lowest 1.9 at line 2, highest 2 at "
        "line 1; 7 are no number, from nan at line 3 to nan at line 9"
    )


def test_a_fault_with_two_reasons_is_shown_once():
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
    assert shown(page, WHOLE) == ["a.log:1: one", "… 8 lines", "b.log:9: nine"]


def test_kinds_are_listed_rarest_first():
    kinds = [
        Template("often #", 900, (0, 1), (0, 990), "often 1"),
        Template("once", 1, (0, 17), (0, 17), "once"),
    ]
    page = digest(a_log(templates=kinds), [], [], 6000)
    assert shown(page, "Other kinds of lines, rarest first") == [
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
    assert "== From the log ==" in page


def test_a_section_for_which_there_is_no_room_is_counted_too():
    kinds = [Template("kind", 1, (0, 2), (0, 2), "kind")]
    log = a_log(a_line(1, "x"), templates=kinds, removed={"bars": 3})
    page = digest(log, [], [], 40)
    assert re.search(r"… [123] sections more\n$", page)


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
