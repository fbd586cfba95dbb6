"""What an exception means: the most specific signal that fits it, and how far it is trusted."""

from dataclasses import replace

import pytest

from app.detect.exception import Kind, Raised
from app.detect.meaning import understand
from app.detect.signals import sight
from app.model import Sighting
from app.rulebook.compiled import Compiled
from tests.small_rules import a_cause, a_rulebook, a_signal, benign, some_lines

CLASS = a_signal("key", "Key", exception="KeyError")
ANY = a_signal("any", "Other", exception="*")
ANY_SAYING = a_signal("any_saying", "Said", exception="*", message="no such (?P<what>column|row)")
FRAMED = a_signal("framed", "Framed", exception="KeyError", frames=r"/loader/(?P<file>\w+)\.py")
NARROW = a_signal("narrow", "Narrow", exception="KeyError", message="no such column",
                  frames="/loader/")  # fmt: skip
SAYING = a_signal("saying", "Said", exception="KeyError", message="no such column")
VETOED = a_signal("vetoed", "Key", exception="KeyError", message="column", unless="no such")
TEXT = a_signal("text", "Text", "column of the (?P<table>[a-z]+) table", strength="clue")
LONGER = a_signal("longer", "Text", "the column of the pump table is gone", strength="clue")
PROVEN = a_signal("proven", "Text", "pump table", strength="proof")
AROUND = a_signal("around", "Text", "table of pumps", strength="context")
ECHO = a_signal("echo", "Key", exception="KeyError", strength="echo")


def compiled(*signals: object) -> Compiled:
    causes = [a_cause(name) for name in ("Key", "Other", "Said", "Framed", "Narrow", "Text")]
    return Compiled(a_rulebook(causes, signals, harmless=[benign("merely a drill")]))


def understood(
    message: str, rules: Compiled, *, kind: Kind = "uncaught", frames: tuple[str, ...] = ()
) -> tuple[Sighting, ...]:
    """Read a log of two lines: somebody raises a KeyError, and somebody else says `bye`."""
    lines = some_lines(f"KeyError: {message}\nbye, pump table", rules)
    first = lines[0]
    raised = Raised("KeyError", "KeyError", message, frames, first, first, 1, frozenset({1}), kind)
    return understand([raised], sight(lines, rules), rules)


def meaning(message: str, *signals: object, frames: tuple[str, ...] = ()) -> str | None:
    found = understood(message, compiled(*signals), frames=frames)
    return found[0].signal if found and found[0].line.number == 1 else None


LIBS = "/opt/tern/lib/python3.11/site-packages"
CALL = (f"{LIBS}/torch/nn/modules/module.py:1739:_wrapped_call_impl",)
IN_LOADER = ("/opt/loader/rows.py:12 in read",)


@pytest.mark.parametrize(
    ("message", "signals", "frames", "expected"),
    [
        ("no such column", (ANY,), (), "any"),
        ("no such column", (CLASS, ANY), (), "key"),
        ("no such column", (ANY_SAYING, CLASS), (), "any_saying"),
        ("no such column", (SAYING, ANY_SAYING, CLASS), (), "saying"),
        ("no such column", (CLASS, FRAMED), IN_LOADER, "framed"),
        ("no such column", (SAYING, NARROW), IN_LOADER, "narrow"),
        ("no such column", (SAYING, NARROW), (), "saying"),
        ("no such column", (VETOED, ANY), (), "any"),
        ("a column", (VETOED, ANY), (), "vetoed"),
        ("column of the pump table", (CLASS, TEXT), (), "text"),
        ("the column of the pump table is gone", (TEXT, LONGER), (), "longer"),
        ("the column of the pump table is gone", (LONGER, PROVEN), (), "proven"),
        ("a table of pumps", (AROUND, ANY), (), "any"),
        ("nothing known", (SAYING, TEXT), (), None),
    ],
)
def test_the_most_specific_signal_tells_what_it_means(
    message: str, signals: tuple[object, ...], frames: tuple[str, ...], expected: str | None
) -> None:
    assert meaning(message, *signals, frames=frames) == expected
    assert meaning(message, *reversed(signals), frames=frames) == expected


def test_the_source_line_that_raised_tells_more_than_the_class() -> None:
    coded = a_signal("coded", "Key", exception="KeyError", code=r"table\[(?P<key>\w+)")
    rules = compiled(CLASS, coded)
    lines = some_lines("KeyError: 'mill'", rules)
    first = lines[0]
    raised = Raised(
        "KeyError", "KeyError", "'mill'", (), first, first, 1, frozenset({1}), "uncaught"
    )
    for code, signal in (("", "key"), ("row = rows[name]", "key"), ("return table[name]", "coded")):
        (sighting,) = understand([replace(raised, code=code)], sight(lines, rules), rules)
        assert sighting.signal == signal
    assert sighting.facts["key"] == "name"


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ((), "key"),
        ((f"{LIBS}/loom/a.py:1:weave",), "key"),
        (("/opt/tern/train.py:71:main", f"{LIBS}/loom/a.py:1:weave"), "key"),
        ((f"{LIBS}/loom/a.py:1:weave", "/opt/tern/train.py:71:main"), "key"),
        ((f"{LIBS}/loom/a.py:1:weave", f"{LIBS}/yarn/b.py:2:spin"), "between"),
        ((f"{LIBS}/loom/a.py:1:weave", *CALL, f"{LIBS}/yarn/b.py:2:spin"), "between"),
        ((f"{LIBS}/loom/a.py:1:weave", "/opt/tern/net.py:7:forward", *CALL), "key"),
    ],
)
def test_code_between_two_libraries_is_known_by_the_raiser_and_its_caller(
    frames: tuple[str, ...], expected: str
) -> None:
    between = a_signal(
        "between", "Key", exception="KeyError", raised_in=r"/site-packages/(?P<key>\w+)/"
    )
    (found, *_) = understood("x", compiled(CLASS, between), frames=frames)
    assert found.signal == expected
    assert found.facts.get("key") == ("yarn" if expected == "between" else None)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ((), "key"),
        ((f"{LIBS}/loom/a.py:1:weave",), "inside"),
        (("/opt/tern/train.py:71:main", f"{LIBS}/loom/a.py:1:weave"), "inside"),
        (("/opt/tern/train.py:71:main", f"{LIBS}/loom/a.py:1:weave", *CALL), "inside"),
        ((f"{LIBS}/loom/a.py:1:weave", "/opt/tern/train.py:71:main"), "key"),
    ],
)
def test_code_inside_a_library_is_known_by_the_raiser_alone(
    frames: tuple[str, ...], expected: str
) -> None:
    inside = a_signal("inside", "Key", exception="KeyError", raised_by=r"/site-packages/")
    (found, *_) = understood("x", compiled(CLASS, inside), frames=frames)
    assert found.signal == expected


def test_of_general_signals_the_narrower_one_tells_what_an_exception_means() -> None:
    wide = a_signal("wide", "Key", exception="KeyError", general=True)
    narrow = a_signal("narrow", "Key", exception="KeyError", raised_by=LIBS, general=True)
    rules = compiled(wide, narrow)
    for frame, signal in ((f"{LIBS}/loom/a.py:1:weave", "narrow"), ("/opt/a.py:1:main", "wide")):
        (found, *_) = understood("x", rules, frames=(frame,))
        assert found.signal == signal


def test_an_exception_is_sighted_once_however_many_signals_its_lines_meet() -> None:
    found = understood("column of the pump table", compiled(TEXT, PROVEN, CLASS, ANY))
    assert [(s.signal, s.line.number) for s in found] == [("proven", 1), ("proven", 2)]


def test_facts_are_those_of_the_exception_and_of_what_its_patterns_capture() -> None:
    (said, *_) = understood("no such row\nin the table", compiled(ANY_SAYING), frames=IN_LOADER)
    assert said.facts == {
        "exception": "KeyError",
        "message": "no such row",
        "frame": IN_LOADER[-1],
        "what": "row",
    }
    (framed, *_) = understood("x", compiled(FRAMED), frames=IN_LOADER)
    assert framed.facts["file"] == "rows"


def test_a_message_of_several_lines_is_read_line_by_line() -> None:
    assert meaning("first\nno such row", ANY_SAYING) == "any_saying"
    assert meaning("first no\nsuch row", ANY_SAYING) is None


@pytest.mark.parametrize(
    ("kind", "of_proof", "of_echo"),
    [
        ("uncaught", "proof", "echo"),
        ("logged", "clue", "echo"),
        ("bare", "clue", "echo"),
        ("reported", "echo", "echo"),
    ],
)
def test_how_it_came_to_be_printed_bounds_its_strength(
    kind: Kind, of_proof: str, of_echo: str
) -> None:
    assert understood("x", compiled(CLASS), kind=kind)[0].strength == of_proof
    assert understood("x", compiled(ECHO), kind=kind)[0].strength == of_echo


def test_what_is_ignored_means_nothing_and_neither_do_its_lines() -> None:
    found = understood("column of the pump table", compiled(CLASS, TEXT), kind="ignored")
    assert found == ()


def test_an_exception_on_a_harmless_line_means_nothing() -> None:
    assert understood("merely a drill", compiled(CLASS, ANY)) == ()


def test_other_lines_keep_what_was_sighted_there_in_reading_order() -> None:
    found = understood("x", compiled(CLASS, PROVEN))
    assert [(s.signal, s.line.number) for s in found] == [("key", 1), ("proven", 2)]


VAGUE = a_signal("vague", "Other", exception="StopError", general=True)


def raised_over(second: str, *signals: object) -> list[tuple[str, int]]:
    """Read a KeyError over which a StopError is raised; give what is sighted, and where."""
    rules = compiled(*signals)
    lines = some_lines(f"KeyError: no such column\nStopError: {second}", rules)
    inner, outer = (
        Raised(name, name, message, (), line, line, line.number, frozenset({line.number}), "bare")
        for name, message, line in zip(
            ("KeyError", "StopError"), ("no such column", second), lines, strict=True
        )
    )
    chained = replace(outer, kind="uncaught", lines=frozenset({1, 2}), cause_of=(inner,))
    return [(s.signal, s.line.number) for s in understand([chained], sight(lines, rules), rules)]


def test_an_exception_that_says_nothing_is_taken_for_what_it_was_raised_over() -> None:
    assert raised_over("stopped", VAGUE, SAYING) == [("saying", 1)]
    assert raised_over("stopped", VAGUE) == [("vague", 2)]
    assert raised_over("no such row", VAGUE, ANY_SAYING, CLASS) == [("any_saying", 2)]


def test_of_a_chain_the_member_that_tells_the_same_event_in_more_detail_is_taken() -> None:
    full = a_signal("full", "Other", "tank is full", refines=["spilled"])
    rules = compiled(a_signal("spilled", "Key", "spilled"), full, CLASS)
    lines = some_lines("OSError: spilled\nOSError: the tank is full", rules)
    first, second = (
        Raised("OSError", "OSError", line.raw[9:], (), line, line, line.number,
               frozenset({line.number}), "uncaught")
        for line in lines
    )  # fmt: skip
    raised = replace(first, lines=frozenset({1, 2}), cause_of=(second,))
    (sighting,) = understand([raised], sight(lines, rules), rules)
    assert (sighting.signal, sighting.line.number) == ("full", 2)


def test_plain_words_say_less_than_a_class() -> None:
    plain = PROVEN.model_copy(update={"general": True})
    assert meaning("column of the pump table", plain, CLASS) == "key"
    assert meaning("column of the pump table", plain, ANY) == "proven"


def test_a_bare_line_that_tells_of_another_try_is_a_clue() -> None:
    rules = compiled(PROVEN)
    assert understood("lost pump table", rules, kind="bare")[0].strength == "proof"
    tried = understood("lost pump table, attempt 2/5", rules, kind="bare")
    assert tried[0].strength == "clue"
    assert understood("lost pump table, attempt 2/5", rules)[0].strength == "proof"


@pytest.mark.parametrize(
    ("message", "strength"),
    [
        ("a worker is gone. Check the print statements above for what it said", "echo"),
        ("loader failed, the actual error is in the logs", "echo"),
        ("see the logs of the workers", "echo"),
        ("the loss is above the limit", "proof"),
        ("check the batch size", "proof"),
    ],
)
def test_who_sends_the_reader_to_an_earlier_error_only_reports_it(
    message: str, strength: str
) -> None:
    assert understood(message, compiled(CLASS))[0].strength == strength


def test_who_names_the_error_means_it_wherever_else_it_sends_the_reader() -> None:
    text = "no column of the pump table, see above"
    assert understood(text, compiled(CLASS, PROVEN))[0].strength == "proof"


def test_a_class_that_says_little_gives_way_to_words_that_are_more_than_an_echo() -> None:
    little = a_signal("little", "Key", exception="KeyError", general=True)
    words = a_signal("words", "Text", "pump table", strength="clue", general=True)
    faint = a_signal("faint", "Text", "pump table", strength="echo", general=True)
    assert meaning("no pump table", little, words) == "words"
    assert meaning("no pump table", little, faint) == "little"
    assert meaning("no pump table", CLASS, words) == "key"
