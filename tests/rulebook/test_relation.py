"""Who explains whom: edges, chains, scopes, and circles."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.rulebook.cause import DomainForm, Edge, Explains
from app.rulebook.relation import Link, Relation, build, circle
from tests.small_rules import a_cause, a_rulebook, a_signal

SIGNALS = {"leak": "Pump", "hums": "Pump", "late": "Wait", "lost": "Peer"}


def relation(**edges: Explains) -> Relation:
    return build(edges, SIGNALS)


def always(*targets: str | tuple[str, str]) -> Explains:
    return Explains.model_validate({"always": [as_edge(target) for target in targets]})


def if_earlier(*targets: str | tuple[str, str]) -> Explains:
    return Explains.model_validate({"if_earlier": [as_edge(target) for target in targets]})


def as_edge(target: str | tuple[str, str]) -> object:
    return target if isinstance(target, str) else {"of": target[0], "scope": target[1]}


def test_a_bare_name_and_an_edge_with_its_scope_say_the_same() -> None:
    explains = Explains.model_validate({"always": ["Wait", {"of": "late", "scope": "same_rank"}]})
    assert explains.always == (Edge(of="Wait"), Edge(of="late", scope="same_rank"))
    assert explains == Explains.model_validate_json(explains.model_dump_json())


@pytest.mark.parametrize(
    ("edges", "culprit", "consequence"),
    [
        ({"Pump": always("Wait")}, ("Pump", "leak"), ("Wait", "late")),
        ({"Pump": always("late")}, ("Pump", "leak"), ("Wait", "late")),
        ({"leak": always("Wait")}, ("Pump", "leak"), ("Wait", "late")),
        ({"leak": always("late")}, ("Pump", "leak"), ("Wait", "late")),
        ({"Pump": always("Wait")}, ("Pump", "state_down"), ("Wait", "state_slow")),
    ],
)
def test_causes_and_signals_explain_causes_and_signals(
    edges: dict[str, Explains], culprit: tuple[str, str], consequence: tuple[str, str]
) -> None:
    links = relation(**edges)
    assert links.link(culprit, consequence) == Link("always")
    assert links.link(consequence, culprit) is None


def test_an_edge_of_one_signal_is_not_that_of_its_neighbour() -> None:
    links = relation(leak=always("Wait"))
    assert links.link(("Pump", "hums"), ("Wait", "late")) is None


def test_a_cause_explains_itself_only_where_a_signal_is_named() -> None:
    assert relation(leak=always("Pump")).link(("Pump", "leak"), ("Pump", "hums")) is None
    assert relation(leak=always("hums")).link(("Pump", "leak"), ("Pump", "hums")) == Link("always")
    assert relation(Pump=always("hums")).link(("Pump", "leak"), ("Pump", "hums")) == Link("always")


@pytest.mark.parametrize("own", ["leak", "Pump"])
def test_who_explains_a_signal_does_not_explain_those_beside_it(own: str) -> None:
    links = relation(**{"Wait": always("leak"), own: always("Pump", "Peer")})
    assert links.link(("Wait", "late"), ("Pump", "leak")) == Link("always")
    assert links.link(("Wait", "late"), ("Peer", "lost")) == Link("always")
    assert links.link(("Wait", "late"), ("Pump", "hums")) is None


def test_no_chain_leads_on_through_what_is_explained_alone() -> None:
    alone = Explains.model_validate({"always": [{"of": "leak", "alone": True}]})
    links = relation(Wait=alone, Pump=always("Peer"))
    assert links.link(("Wait", "late"), ("Pump", "leak")) == Link("always")
    assert links.link(("Wait", "late"), ("Peer", "lost")) is None


def test_chains_lead_through_causes_and_signals_that_are_absent() -> None:
    links = relation(Pump=always("late"), Wait=always("Peer"), Peer=always("Launcher"))
    assert links.link(("Pump", "leak"), ("Launcher", "gave_up")) == Link("always")


def test_an_edge_for_what_comes_later_makes_no_chain() -> None:
    links = relation(Pump=if_earlier("Wait"), Wait=always("Peer"))
    assert links.link(("Pump", "leak"), ("Wait", "late")) == Link("if_earlier")
    assert links.link(("Pump", "leak"), ("Peer", "lost")) is None
    links = relation(Pump=always("Wait"), Wait=if_earlier("Peer"))
    assert links.link(("Pump", "leak"), ("Peer", "lost")) is None


def test_in_any_order_beats_only_later() -> None:
    links = relation(Pump=if_earlier("Wait"), leak=always("Wait"))
    assert links.link(("Pump", "leak"), ("Wait", "late")) == Link("always")
    assert links.link(("Pump", "hums"), ("Wait", "late")) == Link("if_earlier")


def test_the_first_scope_of_a_chain_binds_the_whole_of_it() -> None:
    links = relation(Pump=always(("Wait", "same_rank")), Wait=always(("Peer", "same_host")))
    assert links.link(("Pump", "leak"), ("Peer", "lost")) == Link("always", "same_rank")
    links = relation(Pump=always("Wait"), Wait=always(("Peer", "same_host")))
    assert links.link(("Pump", "leak"), ("Peer", "lost")) == Link("always", "same_host")


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("job", "same_rank", "job"),
        ("same_rank", "same_host", "same_host"),
        ("same_rank", "other_ranks", "job"),
        ("same_host", "same_host", "same_host"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_of_two_ways_to_one_thing_the_wider_counts_in_whatever_order_they_are_written(
    one: str, other: str, both: str, turned: bool
) -> None:
    ways = [("Left", one), ("Right", other)]
    links = build(
        {
            "Pump": always(*(reversed(ways) if turned else ways)),
            "Left": always("Peer"),
            "Right": always("Peer"),
        },
        {},
    )
    link = links.link(("Pump", "leak"), ("Peer", "lost"))
    assert link is not None
    assert (link.kind, link.scope) == ("always", both)


def test_among_all_ranks_beats_the_same_rank_between_a_signal_and_its_cause() -> None:
    links = relation(Pump=always(("Wait", "same_rank")), leak=always("Wait"))
    assert links.link(("Pump", "leak"), ("Wait", "late")) == Link("always", "job")


def test_a_domain_gives_its_edges_to_each_cause_that_does_not_say_otherwise() -> None:
    domain = DomainForm(
        title="plant",
        summary="the plant",
        explains=Explains.model_validate({"always": ["Peer"], "if_earlier": ["Wait", "Pump"]}),
    )
    book = a_rulebook(
        [a_cause("Pump", always=["Wait"]), a_cause("Wait"), a_cause("Peer", "net")],
        [a_signal(name, cause) for name, cause in SIGNALS.items()],
        domains={"plant": domain},
    )
    link = book.relation.link
    assert link(("Pump", "leak"), ("Wait", "late")) == Link("always")
    assert link(("Pump", "leak"), ("Peer", "lost")) == Link("always")
    assert link(("Wait", "late"), ("Pump", "leak")) == Link("if_earlier")
    assert link(("Peer", "lost"), ("Wait", "late")) is None
    assert link(("Pump", "leak"), ("Pump", "hums")) is None


@pytest.mark.parametrize(
    ("edges", "ring"),
    [
        ({"Pump": always("Wait"), "Wait": always("Pump")}, ["Pump", "Wait", "Pump"]),
        (
            {"Pump": always("Wait"), "Wait": always("Peer"), "Peer": always("Pump")},
            ["Pump", "Wait", "Peer", "Pump"],
        ),
        ({"Pump": always("late"), "Wait": always("Pump")}, ["Pump", "late", "Pump"]),
        ({"leak": always("Wait"), "Wait": always("leak")}, ["leak", "Wait", "leak"]),
        ({"leak": always("hums"), "hums": always("leak")}, ["leak", "hums", "leak"]),
        ({"Pump": always(("Wait", "same_rank")), "late": always("leak")}, ["leak", "late", "leak"]),
    ],
)
def test_what_would_explain_itself_in_the_end_is_found(
    edges: dict[str, Explains], ring: list[str]
) -> None:
    found = circle(edges, ["Pump", "Wait", "Peer"], SIGNALS)
    assert found is not None
    assert found[0] == found[-1]
    assert {*found} == {*ring}


@pytest.mark.parametrize(
    "edges",
    [
        {"Pump": always("Wait"), "Wait": always("Peer")},
        {"Pump": always("Wait", "Peer"), "Wait": always("Peer")},
        {"Pump": if_earlier("Wait"), "Wait": if_earlier("Pump")},
        {"Pump": always("Wait"), "Wait": if_earlier("Pump")},
        {"Pump": always("hums")},
        {"Pump": always("Pump"), "leak": always("Pump", "leak")},
        {"leak": always("late"), "late": always("hums")},
    ],
)
def test_what_ends_somewhere_is_no_circle(edges: dict[str, Explains]) -> None:
    assert circle(edges, ["Pump", "Wait", "Peer"], SIGNALS) is None


def test_a_long_chain_is_walked_without_recursion() -> None:
    names = [f"Cause{n}" for n in range(3000)]
    edges = {one: always(other) for one, other in zip(names, names[1:], strict=False)}
    assert circle(edges, names, {}) is None
    ring = circle(edges | {names[-1]: always(names[0])}, names, {})
    assert ring is not None
    assert len(ring) == 3001


CAUSES = ["A", "B", "C", "D"]
OF = {"a": "A", "b": "B", "c": "C", "d": "D", "e": "A"}
targets = st.lists(st.sampled_from([*CAUSES, *OF]), max_size=3)


@settings(deadline=None)
@example({"c": ["e"], "e": ["A"], "a": ["B", "C", "D"]})
@example({"c": ["e"], "A": ["A"], "a": ["C", "B", "D"]})
@given(st.dictionaries(st.sampled_from([*CAUSES, *OF]), targets, max_size=6))
def test_without_a_circle_some_finding_is_never_explained(written: dict[str, list[str]]) -> None:
    edges = {name: always(*explained) for name, explained in written.items()}
    if circle(edges, CAUSES, OF) is not None:
        return
    links = build(edges, OF)
    findings = [(cause, signal) for signal, cause in OF.items()]
    explained = {
        one for one in findings for other in findings if one != other and links.link(other, one)
    }
    assert explained != {*findings}
