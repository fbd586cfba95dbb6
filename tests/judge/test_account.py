"""Who accounts for whom depends on weight, on order, and on the end of a wait."""

from dataclasses import replace

import pytest

from app.judge.account import Event, accounts_for
from app.model import Finding, Line, Strength
from app.rulebook.rulebook import Rulebook
from tests.small_rules import a_cause, a_finding, a_line, a_rulebook, a_signal

WAIT = "NCCLTimeoutError"


def rules(**explains: object) -> Rulebook:
    """Make a rulebook in which KeyError, Host, Preempted and Cancelled explain as told."""
    names = ["KeyError", "Host", "Preempted", "Cancelled", WAIT, "Unknown"]
    edges = {name: explains.get(name.lower(), {}) for name in names}
    return a_rulebook(
        [a_cause(name, **edges[name]) for name in names if name != "Unknown"],
        [a_signal(name.lower(), name) for name in names],
    )


def found(cause: str, line: Line, strength: Strength = "proof", **more: object) -> Finding:
    general = bool(more.pop("general", False))
    made = a_finding(cause, line, signal=cause.lower(), strength=strength, **more)
    return replace(made, general=general)


def accounts(by: Finding, finding: Finding, book: Rulebook) -> bool:
    events = Event(by, by.first), Event(finding, finding.first)
    return accounts_for(*events, book.relation) is not None


LATER = {"if_earlier": [WAIT, "unknown", "KeyError"]}
NOON = 43200.0


@pytest.mark.parametrize(
    ("seconds_before", "explains"), [(600, True), (300, True), (40, True), (20, False), (0, False)]
)
def test_what_is_printed_as_a_wait_runs_out_did_not_begin_it(
    seconds_before: int, explains: bool
) -> None:
    wait = found(WAIT, a_line(9, time=NOON), onset=NOON - 600)
    error = found("KeyError", a_line(5, time=NOON - seconds_before))
    assert accounts(error, wait, rules(keyerror=LATER)) is explains


def test_a_wait_of_unknown_length_goes_by_its_line() -> None:
    error = found("KeyError", a_line(5, time=NOON - 1))
    assert accounts(error, found(WAIT, a_line(9, time=NOON)), rules(keyerror=LATER))
    assert accounts(
        found("KeyError", a_line(5)), found(WAIT, a_line(9), onset=None), rules(keyerror=LATER)
    )


@pytest.mark.parametrize(("seconds_before", "explains"), [(590, True), (10, False)])
def test_the_last_words_of_a_printer_tell_that_it_failed_before(
    seconds_before: int, explains: bool
) -> None:
    wait = found(WAIT, a_line(5, time=NOON), onset=NOON - 600)
    error = found("KeyError", replace(a_line(9), until=NOON - seconds_before))
    assert accounts(error, wait, rules(keyerror=LATER)) is explains


def test_a_wait_explains_nothing_whose_printer_fell_silent_before() -> None:
    wait = found(WAIT, a_line(5, time=NOON), onset=NOON - 600)
    book = rules(**{WAIT.lower(): {"if_earlier": ["KeyError"]}})
    assert accounts(wait, found("KeyError", a_line(9)), book)
    early = found("KeyError", replace(a_line(9), until=NOON - 590))
    assert not accounts(wait, early, book)


def test_what_came_as_the_wait_ran_out_may_be_its_wreckage() -> None:
    wait = found(WAIT, a_line(9, time=NOON), onset=NOON - 600)
    error = found("KeyError", a_line(5, time=NOON - 10))
    book = rules(**{WAIT.lower(): {"if_earlier": ["KeyError"]}})
    assert accounts(wait, error, book)
    early = found("KeyError", a_line(5, time=NOON - 100))
    assert not accounts(wait, early, book)


@pytest.mark.parametrize("knows_not", [WAIT, "Unknown"])
def test_plain_words_may_say_what_was_waited_for_and_a_launchers_report_may_not(
    knows_not: str,
) -> None:
    ended = found(knows_not, a_line(9), "proof" if knows_not == WAIT else "clue")
    book = rules(host={"always": [WAIT, "unknown"]})
    assert accounts(found("Host", a_line(5), "echo", general=True), ended, book)
    assert not accounts(found("Host", a_line(5), "echo"), ended, book)


def test_plain_words_explain_no_error_that_names_itself() -> None:
    book = rules(host={"always": ["KeyError"]})
    for strength in ("echo", "clue"):
        by = found("Host", a_line(5), strength, general=True)
        assert not accounts(by, found("KeyError", a_line(9)), book)


def test_a_job_that_was_taken_off_went_down_from_then_on_however_loudly() -> None:
    book = rules(preempted={"if_earlier": ["Host"]}, cancelled={"if_earlier": ["Host"]})
    error = found("Host", a_line(5))
    assert accounts(found("Preempted", a_line(4), "clue"), error, book)
    assert not accounts(found("Preempted", a_line(6), "clue"), error, book)
    assert not accounts(found("Cancelled", a_line(4), "clue"), error, book)


@pytest.mark.parametrize(("strength", "explains"), [("clue", False), ("proof", True)])
def test_it_takes_proof_of_being_taken_off_to_explain_an_error_of_the_script(
    strength: Strength, explains: bool
) -> None:
    taken = found("Preempted", a_line(4), strength)
    assert accounts(taken, found("KeyError", a_line(5)), rules(preempted=LATER)) is explains


def test_an_edge_to_other_ranks_needs_the_order_where_the_ranks_are_unknown() -> None:
    book = rules(keyerror={"always": [{"of": WAIT, "scope": "other_ranks"}]})
    wait = found(WAIT, a_line(5, rank=3))
    assert accounts(found("KeyError", a_line(9, rank=4)), wait, book)
    assert not accounts(found("KeyError", a_line(9, rank=3)), wait, book)
    assert not accounts(found("KeyError", a_line(9)), wait, book)
    assert accounts(found("KeyError", a_line(2)), wait, book)


def test_a_launcher_names_the_rank_in_its_text() -> None:
    book = rules(keyerror={"always": [{"of": WAIT, "scope": "other_ranks"}]})
    wait = found(WAIT, a_line(5, rank=3))
    assert accounts(found("KeyError", a_line(9), facts={"rank": "4"}), wait, book)
    assert not accounts(found("KeyError", a_line(9), facts={"rank": "3"}), wait, book)


def test_the_workers_of_who_was_stopped_go_with_it() -> None:
    causes = [a_cause("Cancelled", if_earlier=["DataloaderKilled"]), a_cause("DataloaderKilled")]
    signals = [a_signal("cancelled", "Cancelled"), a_signal("gone", "DataloaderKilled")]
    book = a_rulebook(causes, signals)
    gone = replace(found("DataloaderKilled", a_line(9)), signal="gone")
    for number, explains in ((5, True), (12, False)):
        stop = found("Cancelled", a_line(number), "clue")
        assert accounts(stop, gone, book) is explains
