"""Every form of traceback, and tracebacks of several processes in one log."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.detect.traceback import find_raised
from app.model import Line
from tests.detect.written_logs import FORMS, PLAIN, find, read, the_one


@pytest.mark.parametrize(("log", "expected"), FORMS.values(), ids=FORMS)
def test_every_form_of_traceback_gives_its_exception(log, expected):
    assert find(log) == expected


def interleaved(ranks: int, label: bool) -> str:
    """Print the plain traceback of several ranks, a line of each in turn."""
    lines = PLAIN.strip().split("\n")[1:]
    return "\n".join(
        (f"[rank{rank}]: " if label else "") + line.replace("tokens", f"tokens{rank}")
        for line in lines
        for rank in range(ranks)
    )


@pytest.mark.parametrize("label", [True, False])
def test_eight_ranks_that_take_turns_give_eight_whole_tracebacks(label):
    found = find_raised(read(interleaved(8, label)))
    assert [r.message for r in found] == [f"'tokens{rank}'" for rank in range(8)]
    assert {r.frames for r in found} == {
        ("/opt/tern/train.py:90:<module>", "/opt/tern/train.py:71:main")
    }
    assert {len(r.lines) for r in found} == {7}
    assert {r.kind for r in found} == {"uncaught"}


def test_a_traceback_that_was_cut_does_not_swallow_the_next():
    raised = the_one("\n".join(PLAIN.strip().split("\n")[:4] + ["step"] * 20) + PLAIN)
    assert (raised.first.number, raised.last) == (26, 32)
    assert raised.frames[-1] == "/opt/tern/train.py:71:main"


def test_lines_may_be_missing_between_those_of_a_traceback():
    lines = [line for line in read(PLAIN) if "~~~" not in line.text and "main()" not in line.text]
    (raised,) = find_raised(lines)
    assert raised.frames[0] == "/opt/tern/train.py:90:<module>"
    assert raised.lines == {2, 3, 5, 6, 8}


def test_harmless_lines_of_others_are_no_part_of_what_they_lie_in():
    lines = PLAIN.strip().split("\n")[1:]
    for place in (1, 3, 5, 7):
        lines.insert(place, "df: /scratch: No such file or directory")
    (raised,) = find_raised(read("\n".join(lines)), lambda line: line.text.startswith("df: "))
    assert raised.frames == ("/opt/tern/train.py:90:<module>", "/opt/tern/train.py:71:main")
    assert raised.lines == {n for n, text in enumerate(lines, 1) if not text.startswith("df: ")}


PUSHED = """
2026-03-04 11:12:13,555 - tern.metrics - WARNING - could not push
{between}Traceback (most recent call last):
  File "/opt/tern/metrics.py", line 30, in push
    self.post(values)
ConnectionError: 503
"""


@pytest.mark.parametrize(
    ("between", "kind"),
    [
        ("", "logged"),
        ("node-3 kernel: eth0: link is up\n", "logged"),
        ("2026-03-04 11:12:14,000 - tern - INFO - step 4\n", "uncaught"),
        ("a\nb\nc\n", "uncaught"),
    ],
    ids=["at_once", "behind_a_strange_line", "behind_another_record", "too_far_off"],
)
def test_the_record_that_a_traceback_was_printed_with_stands_just_before_it(between, kind):
    assert the_one(PUSHED.format(between=between)).kind == kind


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("falling back to the slow path", "logged"),
        ("no commit will be recorded", "uncaught"),
        ("points could not be pushed", "logged"),
    ],
)
def test_a_warning_before_a_traceback_is_its_record_if_it_tells_of_a_failure(told, kind):
    assert the_one(PUSHED.format(between="").replace("could not push", told)).kind == kind


def test_what_a_logger_aligns_with_its_message_was_caught():
    lines = PLAIN.strip().split("\n")[1:]
    assert the_one("\n".join(" " * 24 + line for line in lines)).kind == "logged"
    assert the_one("\n".join("  " + line for line in lines)).kind == "uncaught"


def test_a_record_whose_first_line_alone_has_a_label_is_read_whole():
    raised = the_one("[rank5]: " + "\n".join(PLAIN.strip().split("\n")[1:]) + "\nstep 4")
    assert (raised.first.rank, raised.type, len(raised.frames)) == (5, "KeyError", 2)
    assert raised.lines == frozenset(range(1, 8))


def test_files_are_kept_apart():
    found = find_raised([*read(PLAIN, file=0), *read(PLAIN, file=1)])
    assert [(r.line.file, r.line.number) for r in found] == [(0, 8), (1, 8)]


def test_what_is_kept_of_a_traceback_is_bounded():
    frames = '  File "a.py", line 3, in f\n    g()\n' * 500
    words = "\n".join(["  " + "x" * 900] * 100)
    raised = the_one(f"Traceback (most recent call last):\n{frames}RuntimeError: long\n{words}")
    assert len(raised.frames) == 64
    assert len(raised.message) <= 4096
    assert raised.last == 1102


PIECES = [
    *{line for log, _ in FORMS.values() for line in log.split("\n")},
    '"""',
    "ray.exceptions.RayTaskError(KeyError): ray::Worker.init() (pid=9)",
    "ValueError: Caught ValueError in DataLoader worker process 1.",
    "Original Traceback (most recent call last):",
    "  traceback : Traceback (most recent call last):",
    "============================================================",
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
    "",
]
LINES = st.builds(
    lambda text, rank, stream, time: Line(0, 0, text, text, rank=rank, stream=stream, time=time),
    st.one_of(st.sampled_from(sorted(PIECES)), st.text(max_size=40)),
    st.sampled_from([None, None, 0, 1]),
    st.sampled_from(["", "", "rank 0"]),
    st.sampled_from([None, None, 1.0, 9.0]),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(LINES, st.integers(1, 3)), max_size=120))
def test_no_mix_of_lines_makes_it_raise_and_every_place_is_one_of_them(mix):
    number, lines = 0, []
    for line, step in mix:
        number += step
        lines.append(Line(0, number, line.raw, line.text, line.rank, None, line.time, line.stream))
    numbers = {line.number for line in lines}
    for raised in find_raised(lines):
        assert raised.type
        assert raised.lines <= numbers
        assert raised.line.number in raised.lines
        assert raised.first.number in raised.lines
        assert raised.last == max(raised.lines)
        assert len(raised.cause_of) <= 16
        assert not any(other.cause_of for other in raised.cause_of)
