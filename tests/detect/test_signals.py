"""A candidate of the scan counts only where the rule really holds on the line."""

from app.detect.signals import facts_on, is_benign, marks, sight
from app.model import Line
from app.rulebook.compiled import Compiled
from tests.small_rules import a_cause, a_mark, a_rulebook, a_signal, benign, some_lines

LEAK = a_signal("leak", "Pump", r"pump (?P<pump>\d+) leaks", unless="^old pump|test")
LATE = a_signal("late", "Pump", "gave up", after="^valve opens", within=4, strength="clue")
BOTH = a_signal("both", "Pump", ["pipe burst", "water in the hall"])
DONE = a_mark("done", "exit", [r"task (?P<rank>\d+) ended", "ended well"], unless="^no")
COMPILED = Compiled(
    a_rulebook(
        [a_cause("Pump")],
        [LEAK, LATE, BOTH],
        [DONE],
        [benign("^a drip: ", unless=["grows", "spreads"]), benign("only a rehearsal")],
    )
)


def seen(text: str) -> list[tuple[str, int]]:
    return [(s.signal, s.line.number) for s in sight(some_lines(text, COMPILED), COMPILED)]


def test_a_signal_is_sighted_with_its_facts_and_strength() -> None:
    (sighting,) = sight(some_lines("all well\n[rank3]: pump 7 leaks", COMPILED), COMPILED)
    assert (sighting.signal, sighting.strength) == ("leak", "proof")
    assert sighting.facts == {"pump": "7"}
    assert (sighting.line.number, sighting.line.rank) == (2, 3)


def test_a_candidate_that_does_not_hold_is_nothing() -> None:
    probe = next(i for i, p in enumerate(COMPILED.probes) if p.source == LEAK.match[0])
    assert sight([Line(0, 1, "pump x leaks", "pump x leaks", met=(probe,))], COMPILED) == ()


def test_unless_vetoes_on_the_line_as_printed_and_behind_its_prefix() -> None:
    assert seen("pump 7 leaks") == [("leak", 1)]
    assert seen("old pump 7 leaks") == []
    assert seen("[rank3]: old pump 7 leaks") == []
    assert seen("[rank3]: pump 7 leaks in a test") == []


def test_a_harmless_line_counts_for_no_signal_with_or_without_a_prefix() -> None:
    assert seen("a drip: pump 7 leaks") == []
    assert seen("gpu-a: [rank3]: a drip: pump 7 leaks") == []
    assert seen("a drip: pump 7 leaks and it grows") == [("leak", 1)]
    assert seen("a drip: pump 7 leaks and it spreads") == [("leak", 1)]
    assert seen("pump 7 leaks, but it is only a rehearsal") == []


def test_is_benign_asks_the_line_alone() -> None:
    known = [is_benign(line, COMPILED) for line in some_lines("a drip: x\ndrip: x", COMPILED)]
    assert known == [True, False]


def test_after_needs_something_before_within_so_many_lines() -> None:
    assert seen("valve opens\nx\nx\nx\ngave up") == [("late", 5)]
    assert seen("valve opens\nx\nx\nx\nx\ngave up") == []
    assert seen("gave up\nvalve opens") == []
    assert seen("gave up: valve opens") == []


def test_after_is_asked_of_the_same_printer_and_behind_its_prefix() -> None:
    assert seen("[rank1]: valve opens\n[rank1]: gave up") == [("late", 2)]
    assert seen("[rank1]: valve opens\n[rank2]: gave up") == []
    assert seen("[rank1]: valve opens\n[rank2]: x\n[rank1]: gave up") == [("late", 3)]


def test_after_is_asked_within_one_file() -> None:
    lines = some_lines("valve opens", COMPILED) + some_lines("x\ngave up", COMPILED, file=1)
    assert sight(lines, COMPILED) == ()


def test_a_signal_with_several_patterns_counts_once_a_line() -> None:
    assert seen("pipe burst: water in the hall\npipe burst") == [("both", 1), ("both", 2)]


def test_two_pieces_of_one_line_count_apart() -> None:
    first, second = some_lines("pump 1 leaks\npump 2 leaks", COMPILED)
    pieces = [first, Line(0, 1, second.raw, second.text, met=second.met)]
    assert [s.facts["pump"] for s in sight(pieces, COMPILED)] == ["1", "2"]


def test_a_mark_is_met_once_a_line_and_keeps_its_first_facts() -> None:
    found = marks(some_lines("task 3 ended well\nno task 4 ended\nended well", COMPILED), COMPILED)
    assert [(m.line.number, dict(m.facts)) for m in found] == [(1, {"rank": "3"}), (3, {})]
    assert {(m.mark, m.kind) for m in found} == {("done", "exit")}


def test_facts_are_taken_behind_the_prefix_first() -> None:
    (line,) = some_lines("[rank3]: pump 7 leaks", COMPILED)
    assert facts_on(line, "^pump (?P<pump>.)", COMPILED) == {"pump": "7"}
    assert facts_on(line, r"^\[rank(?P<rank>.)\]", COMPILED) == {"rank": "3"}
    assert facts_on(line, "^7", COMPILED) is None
