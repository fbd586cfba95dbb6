"""What a line fears, advises, denies or got over is no proof; the words of the fault itself are."""

import pytest

from app.detect.doubt import weigh
from app.detect.signals import sight, standing
from app.model import Strength
from app.rulebook.compiled import Compiled
from app.rulebook.signal import Signal
from tests.small_rules import a_cause, a_rulebook, a_signal, some_lines

LEAK = a_signal("leak", "Pump", r"(?i)pump (?P<pump>\d+) leaks|leaks? of water|water errors?")
RULES = a_rulebook([a_cause("Pump")], [LEAK])
COMPILED = Compiled(RULES)


def left(line: str, signal: Signal = LEAK, rank: int | None = None) -> Strength | None:
    """Say how much of a signal is left on a line, which a rank may have printed."""
    met = COMPILED.meet(LEAK.match[0], line)
    assert met is not None
    return weigh(signal, met, line, rank)[0]


def like(**changes: object) -> Signal:
    return LEAK.model_copy(update=changes)


@pytest.mark.parametrize(
    "line",
    [
        "pump 7 leaks",
        "[rank3]: pump 7 leaks, which may have been caused by frost",
        "pump 7 leaks. If you see this often, consider a new seal.",
        "To avoid a flood the hall is closed: pump 7 leaks",
        "We may be wrong. pump 7 leaks",
        "There are possible causes. Now we know. (2) pump 7 leaks",
        "pump 7 leaks (possible cause: frost)",
        "no answer from the hall, pump 7 leaks",
        "gave up after attempt 5/5: pump 7 leaks",
        "pump 7 leaks, all retries exhausted, not retrying",
        "rank: 0 pump 7 leaks",
        "CRITICAL pump 7 leaks",
        "water errors: 4",
    ],
)
def test_a_fault_that_is_told_as_one_is_a_proof(line: str) -> None:
    assert left(line) == "proof"


@pytest.mark.parametrize(
    "line",
    [
        "check the seal if pump 7 leaks",
        "the job restarts whenever pump 7 leaks",
        "it might be that pump 7 leaks",
        "possible causes: frost, or pump 7 leaks",
        "There are some potential root causes. (1) The frost. (2) A valve: pump 7 leaks",
        "The usual reasons are two. a) The frost. b) pump 7 leaks",
        "in case pump 7 leaks, call the plumber",
        "a leak of water could be the reason",
        "set seal=2 to prevent a leak of water",
        "try reducing the pressure when pump 7 leaks or in case of frost",
        "the previous attempt ended since pump 7 leaks",
    ],
)
def test_a_possibility_a_condition_and_advice_are_nothing(line: str) -> None:
    signal = like(general=True) if "when pump" in line else LEAK
    assert left(line, signal) is None


def test_a_cautious_word_in_an_error_leaves_a_clue_of_a_proof() -> None:
    assert left("ERROR hall: it may be that pump 7 leaks") == "clue"
    assert left("INFO hall: it may be that pump 7 leaks") is None


@pytest.mark.parametrize(
    "line",
    [
        "no leak of water",
        "ran for 3 days without a single leak of water",
        "found 0 water errors",
        "water errors: 0",
        'hall {"water errors": 0, "pumps": 4}',
        "water errors = none",
    ],
)
def test_what_is_denied_or_counted_as_zero_is_nothing(line: str) -> None:
    assert left(line) is None


@pytest.mark.parametrize(
    "line",
    [
        "pump 7 leaks, retrying in 5 s",
        "pump 7 leaks, attempt 2/5",
        "attempt 1 of 3: pump 7 leaks",
        "pump 7 leaks (ignored)",
        "pump 7 leaks; recovered after 3 s",
    ],
)
def test_a_retry_that_goes_on_takes_one_step_from_each_strength(line: str) -> None:
    assert left(line) == "clue"
    assert left(line, like(strength="clue")) == "echo"
    assert left(line, like(strength="echo")) is None


@pytest.mark.parametrize("head", ["WARNING:hall:", "[I1019 12:11:02 hall.cpp:3] ", "DEBUG "])
def test_below_the_level_of_an_error_a_proof_is_a_clue(head: str) -> None:
    assert left(f"{head}pump 7 leaks") == "clue"
    assert left(f"{head}pump 7 leaks", like(strength="echo")) == "echo"
    assert left(f"{head}pump 7 leaks", like(despite=("level",))) == "proof"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("check the seal if pump 7 leaks", "hedge"),
        ("no leak of water", "denial"),
        ("pump 7 leaks, retrying", "retry"),
    ],
)
def test_a_signal_may_say_that_it_means_such_lines(line: str, kind: str) -> None:
    assert left(line, like(despite=(kind,))) == "proof"
    assert left(line, like(despite=("level",))) != "proof"


def test_words_that_the_pattern_spells_out_are_meant() -> None:
    seal = a_signal("seal", "Pump", r"the seal may be torn|no water left|giving in, retrying")
    rules = Compiled(a_rulebook([a_cause("Pump")], [seal]))
    for line in ("the seal may be torn", "no water left", "giving in, retrying"):
        (sighting,) = sight(some_lines(line, rules), rules)
        assert (sighting.strength, sighting.doubt) == ("proof", "")


def test_a_general_signal_falls_by_words_inside_its_match_too() -> None:
    wide = a_signal("wide", "Pump", r"pump\b.{0,40}\bleaks")
    rules = Compiled(a_rulebook([a_cause("Pump")], [wide]))
    line = "pump 7 is stopped before it leaks"
    met = rules.meet(wide.match[0], line)
    assert met is not None
    assert weigh(wide, met, line)[0] == "proof"
    assert weigh(wide.model_copy(update={"general": True}), met, line)[0] is None


def test_a_sighting_tells_what_words_weakened_it() -> None:
    text = "pump 7 leaks, attempt 2/5\ncheck the seal if pump 7 leaks"
    retried, advice = sight(some_lines(text, COMPILED), COMPILED)
    assert (retried.strength, retried.doubt, retried.stands) == ("clue", "retry: attempt 2/5", True)
    assert (advice.doubt, advice.stands) == ("hedge: if", False)
    assert standing((retried, advice)) == (retried,)


@pytest.mark.parametrize(
    "line",
    [
        "INFO note: the last run died: pump 7 leaks",
        "ERROR previous job state: pump 7 leaks",
        "resume reason: pump 7 leaks on h3, which is excluded now",
        "INFO config: {'restarts': 2, 'note': 'seen in an earlier attempt: pump 7 leaks'}",
        "pump 7 leaks during the previous attempt",
        "pump 7 leaks, not part of this job",
        "pump 7 leaks by the wall, not ours",
        "pump 7 leaks 2 times before",
        "INFO sample 3 (decoded): 'Who can help? My log says pump 7 leaks, since Monday'",
        'prompt: "it says pump 7 leaks',
        '{"level": "info", "completion": "Then pump 7 leaks."}',
        "INFO decoded: it says pump 7 leaks",
    ],
)
def test_what_befell_another_run_or_is_quoted_is_no_fault_of_this_one(line: str) -> None:
    assert left(line) is None
    assert left(line, like(despite=["hearsay", "level", "hedge"])) == "proof"


@pytest.mark.parametrize(
    "line",
    [
        "ERROR cannot read what the last run left: pump 7 leaks",
        "failed sample: 'a.jpg': pump 7 leaks",
        "prompts 0-31: 'pump house': pump 7 leaks",
        "generation throughput: 0.0, pump 7 leaks",
    ],
)
def test_what_this_run_meets_with_things_of_another_is_its_own(line: str) -> None:
    assert left(line) == "proof"


@pytest.mark.parametrize(
    ("line", "strength"),
    [
        ("INFO pump 7 leaks", "clue"),
        ("WARNING pump 7 leaks", "proof"),
        ("[12.5] pump 7 leaks", "proof"),
    ],
)
def test_a_rank_that_tells_in_passing_what_a_kernel_would_print_proves_less(
    line: str, strength: Strength
) -> None:
    kernel = like(despite=["level"])
    assert left(line, kernel) == "proof"
    assert left(line, kernel, rank=3) == strength
    assert left(line, like(despite=["level", "rank"]), rank=3) == "proof"


def test_a_count_of_no_times_is_a_denial() -> None:
    assert left("pump 7 leaks (0 times)") is None
    assert left("pump 7 leaks (2 times)") == "proof"
