"""The primary is what nothing else explains, in whatever order the lines were printed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.judge.primary import Ranking, rank
from app.model import Finding, Line, Strength
from app.rulebook.rulebook import Rulebook
from tests.small_rules import a_cause, a_finding, a_line, a_rulebook, a_signal

Edges = Mapping[str, Sequence[object]]


def book(**causes: Edges) -> Rulebook:
    """Make a rulebook of causes with their edges, each shown by a signal of its name."""
    names = dict.fromkeys(causes)
    for edges in causes.values():
        for target in (t for own in edges.values() for t in own):
            names.setdefault(target if isinstance(target, str) else target["of"])
    made = [a_cause(name, **causes.get(name, {})) for name in names]
    return a_rulebook(made, [a_signal(name.lower().ljust(4, "_"), name) for name in names])


def always(*targets: object) -> Edges:
    return {"always": targets}


def if_earlier(*targets: object) -> Edges:
    return {"if_earlier": targets}


def at(cause: str, *lines: Line | int, strength: Strength = "proof", **more: object) -> Finding:
    places = [line if isinstance(line, Line) else a_line(line) for line in lines]
    name = cause.lower().ljust(4, "_")
    return a_finding(cause, *places, signal=name, strength=strength, **more)


def roots(ranking: Ranking) -> list[str]:
    return [finding.cause for finding in ranking.roots]


def told(ranking: Ranking) -> set[tuple[str, str, str]]:
    return {(e.finding.cause, e.by.cause, e.edge) for e in ranking.explained}


def test_no_findings_have_no_root() -> None:
    assert rank([], book(Link=always("Wait"))) == Ranking((), ())


def test_what_nothing_explains_is_the_root_and_the_others_say_who_explains_them() -> None:
    rules = book(Link=always("Wait"), Wait=always("Peer"))
    ranking = rank([at("Wait", 1), at("Peer", 2), at("Link", 3)], rules)
    assert roots(ranking) == ["Link"]
    assert {(cause, edge) for cause, _, edge in told(ranking)} == {
        ("Wait", "always"),
        ("Peer", "always"),
    }


FOUNDING = book(
    Link=always("Cuda", "Timeout", "Remote"),
    Cuda=always("Timeout", "Remote"),
    Timeout=always("Remote"),
    Key=if_earlier("Timeout", "Remote"),
)


@pytest.mark.parametrize("order", list(permutations(["Link", "Cuda", "Timeout", "Remote"])))
@pytest.mark.parametrize("timed", [True, False])
def test_a_link_that_broke_is_the_primary_wherever_its_line_stands(
    order: tuple[str, ...], timed: bool
) -> None:
    findings = [
        at(cause, *(a_line(n * 10 + i, time=n * 60.0 if timed else None) for i in range(3)))
        for n, cause in enumerate(order, 1)
    ]
    ranking = rank(findings, FOUNDING)
    assert roots(ranking) == ["Link"]
    assert len(ranking.explained) == 3


def test_an_exception_before_the_timeout_is_the_cause() -> None:
    findings = [at("Key", 10), at("Timeout", 20), at("Remote", 21)]
    assert roots(rank(findings, FOUNDING)) == ["Key"]


def test_an_exception_after_the_timeout_is_wreckage_and_stays_second() -> None:
    findings = [at("Timeout", 20), at("Remote", 21), at("Key", 30)]
    assert roots(rank(findings, FOUNDING)) == ["Timeout", "Key"]


CAUSES = ["Link", "Cuda", "Timeout", "Remote"]


@settings(deadline=None)
@given(st.sets(st.sampled_from(CAUSES), min_size=1), st.randoms(use_true_random=False))
def test_edges_in_any_order_give_the_same_roots_for_any_order_of_lines(
    present: set[str], chance: object
) -> None:
    ordered = sorted(present)
    expected = roots(rank([at(c, n) for n, c in enumerate(ordered)], FOUNDING))
    places = list(range(len(ordered)))
    chance.shuffle(places)
    findings = [at(c, n) for c, n in zip(ordered, places, strict=True)]
    chance.shuffle(findings)
    assert roots(rank(findings, FOUNDING)) == expected == [c for c in CAUSES if c in present][:1]


@pytest.mark.parametrize(
    ("culprit", "consequence", "explains"),
    [
        (a_line(5), a_line(9), True),
        (a_line(9), a_line(5), False),
        (a_line(9, time=1.0), a_line(5, time=2.0), True),
        (a_line(5, time=2.0), a_line(9, time=1.0), False),
        (a_line(5, time=2.0), a_line(9, time=2.0), True),
        (a_line(9, time=2.0), a_line(5, time=2.0), False),
        (a_line(5, time=2.0), a_line(9), True),
        (a_line(9, file=1, time=1.0), a_line(5, time=2.0), True),
        (a_line(5, file=0, time=2.0), a_line(9, file=1, time=1.0), False),
        (a_line(9, file=1), a_line(5, file=0), True),
        (a_line(9, file=1), a_line(5, file=0, time=3.0), True),
    ],
)
def test_earlier_is_by_clock_then_by_place_and_files_without_clocks_are_in_doubt(
    culprit: Line, consequence: Line, explains: bool
) -> None:
    rules = book(Key=if_earlier("Wait"))
    ranking = rank([at("Key", culprit), at("Wait", consequence)], rules)
    assert (roots(ranking) == ["Key"]) is explains


@pytest.mark.parametrize(
    ("scope", "culprit", "consequence", "explains"),
    [
        ("same_rank", {"rank": 3}, {"rank": 3}, True),
        ("same_rank", {"rank": 3}, {"rank": 4}, False),
        ("same_rank", {"rank": 3}, {}, True),
        ("same_rank", {}, {"rank": 4}, True),
        ("other_ranks", {"rank": 3}, {"rank": 4}, True),
        ("other_ranks", {"rank": 3}, {"rank": 3}, False),
        ("other_ranks", {"rank": 3}, {}, True),
        ("same_host", {"host": "a"}, {"host": "a"}, True),
        ("same_host", {"host": "a"}, {"host": "b"}, False),
        ("same_host", {"host": "a"}, {}, True),
        ("job", {"rank": 3, "host": "a"}, {"rank": 4, "host": "b"}, True),
    ],
)
def test_a_scope_says_among_whom_an_edge_holds(
    scope: str, culprit: dict[str, object], consequence: dict[str, object], explains: bool
) -> None:
    rules = book(Key=always({"of": "Wait", "scope": scope}))
    findings = [at("Key", a_line(1, **culprit)), at("Wait", a_line(2, **consequence))]
    assert (roots(rank(findings, rules)) == ["Key"]) is explains


def test_among_others_holds_if_any_other_rank_shows_it() -> None:
    rules = book(Key=always({"of": "Wait", "scope": "other_ranks"}))
    waits = at("Wait", a_line(2, rank=3), a_line(3, rank=4))
    assert roots(rank([at("Key", a_line(1, rank=3)), waits], rules)) == ["Key"]


STRENGTHS: tuple[Strength, ...] = ("proof", "clue", "echo")


@pytest.mark.parametrize("of_culprit", STRENGTHS)
@pytest.mark.parametrize("of_consequence", STRENGTHS)
def test_what_is_weaker_explains_nothing_stronger(
    of_culprit: Strength, of_consequence: Strength
) -> None:
    rules = book(Key=always("Mount"))
    findings = [at("Key", 1, strength=of_culprit), at("Mount", 2, strength=of_consequence)]
    explains = STRENGTHS.index(of_culprit) <= STRENGTHS.index(of_consequence)
    assert (len(roots(rank(findings, rules))) == 1) is explains


@pytest.mark.parametrize("wait", ["NCCLTimeoutError", "NCCLRemoteError", "Stalled", "Cancelled"])
def test_a_clue_may_say_what_was_waited_for_but_an_echo_may_not(wait: str) -> None:
    rules = book(Slow=always(wait))
    assert roots(rank([at("Slow", 1, strength="clue"), at(wait, 2)], rules)) == ["Slow"]
    assert len(roots(rank([at("Slow", 1, strength="echo"), at(wait, 2)], rules))) == 2


def test_proof_goes_before_clue_before_echo_and_then_the_earlier() -> None:
    rules = book(A=always(), B=always(), C=always(), D=always())
    findings = [
        at("A", a_line(1, time=1.0), strength="echo"),
        at("B", a_line(2, time=2.0), strength="clue"),
        at("C", a_line(4, time=4.0)),
        at("D", a_line(3, time=3.0)),
    ]
    for order in permutations(findings):
        assert roots(rank(order, rules)) == ["D", "C", "B", "A"]


def test_a_timeout_counts_from_when_the_waiting_began() -> None:
    rules = book(A=always(), Wait=always())
    findings = [at("A", a_line(1, time=500.0)), at("Wait", a_line(2, time=900.0), onset=300.0)]
    assert roots(rank(findings, rules)) == ["Wait", "A"]


def test_edges_that_oppose_each_other_hold_for_the_earlier_one() -> None:
    rules = book(A=if_earlier("B"), B=if_earlier("A"))
    assert roots(rank([at("A", 1), at("B", 2)], rules)) == ["A"]
    assert roots(rank([at("A", 2), at("B", 1)], rules)) == ["B"]


def test_in_any_order_beats_only_later_in_the_other_direction() -> None:
    rules = book(A=always("B"), B=if_earlier("A"))
    assert roots(rank([at("A", 2), at("B", 1)], rules)) == ["A"]


def in_files(*causes: str) -> list[Finding]:
    return [at(cause, a_line(1, file=n)) for n, cause in enumerate(causes)]


def test_a_circle_of_files_without_clocks_has_a_root() -> None:
    rules = book(A=if_earlier("B"), B=if_earlier("C"), C=if_earlier("A"))
    ranking = rank(in_files("A", "B", "C"), rules)
    assert len(ranking.roots) == 1
    assert len(ranking.explained) == 2


def test_a_circle_is_not_hidden_by_a_root_that_does_not_explain_it() -> None:
    rules = book(A=if_earlier("B"), B=if_earlier("A"), D=always())
    findings = [*in_files("A", "B"), at("D", a_line(9, file=2), strength="echo")]
    ranking = rank(findings, rules)
    assert len(ranking.roots) == 2
    assert ranking.roots[0].cause in ("A", "B")


ANY = ["A", "B", "C", "D", "E"]
edges = st.dictionaries(
    st.sampled_from(ANY), st.lists(st.sampled_from(ANY), max_size=3), max_size=5
)
places = st.lists(
    st.tuples(
        st.sampled_from(ANY),
        st.integers(0, 2),
        st.integers(1, 9),
        st.one_of(st.none(), st.integers(0, 3).map(float)),
        st.sampled_from(STRENGTHS),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda place: place[0],
)


@settings(deadline=None)
@given(edges, places)
def test_everything_is_explained_in_the_end_by_a_root(
    later: dict[str, list[str]], found: list[tuple[str, int, int, float | None, Strength]]
) -> None:
    rules = book(**{name: if_earlier(*later.get(name, ())) for name in ANY})
    findings = [
        at(cause, a_line(number, file=file, time=time), strength=strength)
        for cause, file, number, time, strength in found
    ]
    ranking = rank(findings, rules)
    accounted = {root.cause for root in ranking.roots}
    for _ in findings:
        accounted |= {e.finding.cause for e in ranking.explained if e.by.cause in accounted}
    assert accounted == {finding.cause for finding in findings}
    assert len(ranking.roots) + len(ranking.explained) == len(findings)


REFINED = a_rulebook(
    [a_cause("Kill", if_earlier=["Peer"]), a_cause("Limit", if_earlier=["Peer"]), a_cause("Peer")],
    [
        a_signal("kill", "Kill", strength="clue"),
        a_signal("reason", "Limit", refines=["Kill"]),
        a_signal("limit", "Limit", refines=["reason"]),
        a_signal("peer", "Peer"),
    ],
)


def one(signal: str, line: Line | int, strength: Strength = "proof") -> Finding:
    cause = REFINED.signal_named[signal].cause
    place = line if isinstance(line, Line) else a_line(line)
    return a_finding(cause, place, signal=signal, strength=strength)


def test_what_tells_the_same_event_in_more_detail_takes_the_other_in() -> None:
    for findings in permutations([one("kill", 1, "clue"), one("reason", 2)]):
        ranking = rank(findings, REFINED)
        assert roots(ranking) == ["Limit"]
        assert told(ranking) == {("Kill", "Limit", "refines")}


@pytest.mark.parametrize("order", list(permutations(["kill", "reason", "limit"])))
def test_the_most_detailed_of_three_takes_both_in_whatever_their_order(
    order: tuple[str, ...],
) -> None:
    ranking = rank([one(signal, n) for n, signal in enumerate(order, 1)], REFINED)
    assert [finding.signal for finding in ranking.roots] == ["limit"]


def test_an_event_began_when_it_was_first_told_of() -> None:
    kill, limit = one("kill", a_line(1, time=10.0), "clue"), one("reason", a_line(9, time=90.0))
    peer = one("peer", a_line(5, time=50.0))
    assert roots(rank([kill, peer, limit], REFINED)) == ["Limit"]


def test_the_scheduler_reports_after_everything_else_happened() -> None:
    rules = book(Limit=if_earlier("Wait"), Wait=if_earlier("Limit"))
    state = replace(at("Limit", a_line(0, file=-1)), signal="state_timeout")
    for wait in (a_line(5), a_line(5, time=9.0), a_line(5, file=2)):
        assert roots(rank([state, at("Wait", wait)], rules)) == ["Wait"]


def test_a_signal_that_refines_its_own_cause_takes_in_what_is_weaker() -> None:
    owners = [a_signal("owner", "Kill", refines=["Kill"]), a_signal("admin", "Kill")]
    rules = a_rulebook([a_cause("Kill")], [*owners, a_signal("kill", "Kill", strength="clue")])
    found = {
        name: a_finding("Kill", a_line(line), signal=name, strength=strength)
        for name, line, strength in (
            ("kill", 1, "clue"),
            ("owner", 2, "proof"),
            ("admin", 3, "proof"),
        )
    }
    assert [f.signal for f in rank([found["kill"], found["owner"]], rules).roots] == ["owner"]
    assert {f.signal for f in rank([found["owner"], found["admin"]], rules).roots} == {
        "owner",
        "admin",
    }


def test_what_has_no_clock_takes_place_and_time_of_what_it_refines_in_another_file() -> None:
    told_last = one("reason", a_line(9, file=1))
    findings = [one("kill", a_line(1, time=10.0), "clue"), told_last, one("peer", a_line(2))]
    assert roots(rank(findings, REFINED)) == ["Limit"]
