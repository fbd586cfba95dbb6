"""One finding a signal: how often, how strong, and when it began."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.detect.findings import fill, group, waited
from app.model import Line, Sighting, Strength
from app.rulebook.compiled import Compiled
from tests.small_rules import a_cause, a_line, a_rulebook, a_signal

COMPILED = Compiled(
    a_rulebook(
        [a_cause("Pump"), a_cause("Wait")],
        [
            a_signal("leak", "Pump", says="pump {pump} leaks on {host}"),
            a_signal("late", "Wait", "waited (?P<timeout_ms>\\d+) ms"),
        ],
    )
)


def seen(line: Line, signal: str = "leak", strength: Strength = "proof", **facts: str) -> Sighting:
    return Sighting(signal, line, strength, facts)


def test_a_signal_makes_one_finding_with_an_exact_count() -> None:
    sightings = [seen(a_line(number)) for number in range(1, 1001)]
    (finding,) = group(sightings, COMPILED)
    assert (finding.cause, finding.signal, finding.count) == ("Pump", "leak", 1000)
    assert len(finding.sightings) == 256
    assert finding.first.number == 1


def test_past_the_first_ones_each_further_rank_is_kept_once() -> None:
    first = [seen(a_line(number, rank=0)) for number in range(1, 301)]
    ranks = [seen(a_line(1000 + n, rank=n % 1023 + 1)) for n in range(3000)]
    (finding,) = group(first + ranks, COMPILED)
    assert finding.count == 3300
    assert len(finding.sightings) == 256 + 1023
    assert {s.line.rank for s in finding.sightings} == set(range(1024))


def test_context_is_no_finding() -> None:
    assert group([seen(a_line(), strength="context")], COMPILED) == ()


def test_a_finding_is_as_strong_as_its_strongest_sighting() -> None:
    for strengths in (("echo", "clue"), ("clue", "proof", "echo"), ("echo",)):
        sightings = [seen(a_line(n), strength=s) for n, s in enumerate(strengths, 1)]
        (finding,) = group(sightings, COMPILED)
        assert finding.strength == max(strengths, key=["echo", "clue", "proof"].index)


def test_the_summary_is_filled_from_the_first_sighting() -> None:
    sightings = [seen(a_line(9), pump="2"), seen(a_line(4), pump="1", host="hall-b")]
    (finding,) = group(sightings, COMPILED)
    assert finding.summary == "pump 1 leaks on hall-b"


@pytest.mark.parametrize(
    ("lines", "order"),
    [
        ([a_line(5, time=9.0), a_line(7, time=3.0)], [7, 5]),
        ([a_line(5), a_line(3)], [3, 5]),
        ([a_line(3), a_line(500, time=9.0)], [3, 500]),
        ([a_line(3, time=9.0), a_line(4), a_line(5, time=9.0)], [3, 4, 5]),
        ([a_line(3, time=9.0), a_line(8), a_line(5, time=2.0)], [5, 8, 3]),
        ([a_line(3, file=1, time=2.0), a_line(9, time=5.0), a_line(4)], [3, 4, 9]),
        ([a_line(1, file=1), a_line(9, time=5.0)], [9, 1]),
    ],
)
def test_sightings_are_ordered_by_clock_and_by_place_where_a_line_has_none(
    lines: list[Line], order: list[int]
) -> None:
    (finding,) = group([seen(line) for line in lines], COMPILED)
    assert [sighting.line.number for sighting in finding.sightings] == order


def test_findings_stand_in_the_order_in_which_they_began() -> None:
    sightings = [
        seen(a_line(30, time=50.0), "late"),
        seen(a_line(40, time=40.0)),
        seen(a_line(10, time=60.0)),
    ]
    assert [finding.signal for finding in group(sightings, COMPILED)] == ["leak", "late"]


times = st.one_of(st.none(), st.integers(0, 5).map(float))
places = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 9), times), min_size=1, unique_by=lambda p: p[:2]
)


@settings(deadline=None)
@given(places, st.randoms(use_true_random=False))
def test_the_order_does_not_hang_on_the_order_of_what_is_given(
    given_places: list[tuple[int, int, float | None]], chance: object
) -> None:
    sightings = [seen(a_line(number, file=file, time=t)) for file, number, t in given_places]
    before = group(sightings, COMPILED)
    chance.shuffle(sightings)
    assert group(sightings, COMPILED) == before


@pytest.mark.parametrize(
    ("facts", "seconds"),
    [
        ({"timeout_ms": "600000"}, 600.0),
        ({"timeout_ms": "1,800,000"}, 1800.0),
        ({"timeout_s": "30.5"}, 30.5),
        ({"timeout_ms": "2000", "timeout_s": "30"}, 2.0),
        ({"timeout_ms": "", "timeout_s": "30"}, 30.0),
        ({"timeout_s": "soon"}, 0.0),
        ({"timeout_s": "inf"}, 0.0),
        ({"timeout_s": "nan"}, 0.0),
        ({"timeout_s": "1e9"}, 0.0),
        ({"timeout_s": "-5"}, 0.0),
        ({"timeout_s": "9" * 400}, 0.0),
        ({}, 0.0),
    ],
)
def test_the_wait_is_read_from_the_facts(facts: dict[str, str], seconds: float) -> None:
    assert waited(facts) == seconds


def test_trouble_began_one_timeout_before_the_line_that_tells_of_it() -> None:
    sightings = [
        seen(a_line(1, time=1000.0), "late", timeout_ms="100000"),
        seen(a_line(2, time=1001.0), "late", timeout_ms="600000"),
    ]
    (finding,) = group(sightings, COMPILED)
    assert finding.onset == 401.0
    assert finding.first.number == 1


def test_trouble_without_any_clock_has_no_onset() -> None:
    assert group([seen(a_line(1), "late", timeout_ms="100000")], COMPILED)[0].onset is None


def test_a_traceback_without_a_clock_began_when_the_line_before_it_was_printed() -> None:
    sightings = [seen(a_line(5, time=70.0)), seen(a_line(8), "late")]
    assert [finding.onset for finding in group(sightings, COMPILED)] == [70.0, 70.0]


def test_what_is_not_known_still_reads_as_a_sentence() -> None:
    assert fill("{gpu} of {host} fell", {}) == "the GPU of the node fell"
    assert fill("{gpu} fell", {"gpu": "{host}"}) == "{host} fell"
    assert fill("{valve} stuck", {"valve": ""}) == "valve stuck"
