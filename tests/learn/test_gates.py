"""Each gate lets a sound signal through and refuses the one that is poisoned for it."""

import pytest

from app.learn import gates
from app.learn.gates import GATES, passed
from tests.learn.conftest import GOOD, JAMMED, LOGS


def refusal(trial):
    """Give the gate that refuses, and why."""
    *before, last = passed(trial)
    assert all(gate.why is None for gate in before)
    return last.gate, last.why


def test_a_sound_signal_passes_every_gate(hall):
    told = passed(hall.trial())
    assert [gate.gate for gate in told] == [gate.__name__ for gate in GATES]
    assert not any(gate.why for gate in told)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"match": (r"(valve) \d+ of [\w-]+ \1",)}, "linear time"),
        ({"name": "pump_leaks"}, "the name pump_leaks is taken"),
        ({"name": "Not a name"}, "must be a name in snake_case"),
        ({"cause": "ValveFault"}, "ValveFault is defined by no file"),
        ({"says": "valve {number} jammed"}, "{number} is a named group of no pattern"),
        ({"misses": ()}, "at least one hit and one miss"),
    ],
)
def test_what_no_rule_file_may_hold_is_refused_with_the_words_of_the_loader(hall, changed, why):
    gate, told = refusal(hall.trial(checked=False, **changed))
    assert gate == "loads_beside_all_rules"
    assert why in told


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"match": [r"valve \d+"]}, "holds 6 literal characters"),
        ({"match": (), "exception": ["RuntimeError"]}, "RuntimeError is raised for any reason"),
        ({"match": (), "exception": ["*"], "message": "at"}, "* is raised for any reason"),
    ],
)
def test_what_says_too_little_is_refused(hall, changed, why):
    gate, told = refusal(hall.trial(**changed))
    assert gate == "is_specific"
    assert why in told


def test_a_signal_that_misses_its_own_hit_is_refused(hall):
    gate, told = refusal(hall.trial(hits=[JAMMED, "valve nine is stuck"]))
    assert (gate, told) == ("meets_its_hits", "it does not find its own hit: valve nine is stuck")


def test_a_signal_that_meets_its_own_near_miss_is_refused(hall):
    near = "valve 9 of hall-b jammed shut, and was freed"
    gate, told = refusal(hall.trial(misses=[near]))
    assert (gate, told) == ("spares_its_misses", f"it finds its own near miss: {near}")


def test_a_signal_that_does_not_find_the_confirmed_failure_is_refused(hall):
    gate, told = refusal(hall.trial(confirmed="gauge 1 reads 4\nvalve 7 is stuck\n"))
    assert gate == "finds_what_was_confirmed"
    assert "comes to Unknown with it, not to PumpFault" in told


def test_a_signal_that_only_others_make_right_is_refused(hall):
    """The pump's own signal would find the cause without it."""
    gate, told = refusal(hall.trial(confirmed="pump 3 leaks\n"))
    assert (gate, told) == ("finds_what_was_confirmed", "it is not found in confirmed")


def test_a_signal_that_is_found_in_a_healthy_run_is_refused(hall):
    healthy = {"healthy": ("Completed", f"{JAMMED}\nvalve 7 of hall-a opens\n")}
    gate, told = refusal(hall.trial(logs={**LOGS, **healthy}, strength="clue"))
    assert gate == "is_silent_on_healthy_logs"
    assert told == "it is found in a healthy run: healthy"


def test_a_signal_that_meets_many_lines_of_other_failures_is_refused(hall):
    waited = {"waited": ("Waiting", f"waited 30 s for the pump\n{JAMMED}\n" + f"{JAMMED}\n" * 9)}
    gate, told = refusal(hall.trial(logs={**LOGS, **waited}, strength="echo"))
    assert gate == "is_rare_elsewhere"
    assert told == "it meets 10 of 20 lines of failures with other causes"


def test_a_signal_that_turns_a_right_verdict_into_a_wrong_one_is_refused(hall):
    waited = {"waited": ("Waiting", f"waited 30 s for the pump\n{JAMMED}\n")}
    gate, told = refusal(hall.trial(logs={**LOGS, **waited}))
    assert gate == "worsens_no_verdict"
    assert told.endswith("1 right verdicts into wrong ones: waited from Waiting to PumpFault")


def test_a_verdict_that_was_wrong_before_is_held_against_nobody(hall):
    lost = {"lost": ("Waiting", f"somebody waited\n{JAMMED}\n")}
    assert all(gate.why is None for gate in passed(hall.trial(logs={**LOGS, **lost})))


def test_there_must_be_something_to_find(hall):
    trial = hall.trial()
    trial.confirmed[0].paths[0].unlink()
    assert gates.finds_what_was_confirmed(trial) == "no confirmed log is left to try it on"


def test_the_good_signal_is_what_the_tests_change(hall):
    assert hall.trial().signal.hits == tuple(GOOD["hits"])
