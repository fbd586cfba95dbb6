"""Written rules from their proposal to their end."""

import pytest

from app.errors import NotFound, UsageError
from app.store.database import connect
from app.store.migrate import migrate
from app.store.proposals import Passed, Proposals, Shown, Written


@pytest.fixture
def proposals(tmp_path):
    engine = connect(f"sqlite:///{tmp_path / 'f.db'}")
    migrate(engine)
    yield Proposals(engine)
    engine.dispose()


def written(name="pump_groans", why=None):
    gates = (Passed("is_specific", None), Passed("meets_its_hits", why))
    return Written(
        name, "PumpFault", "title: …", "fake", 2, (Shown("dg_1", ("a", "b")),), gates, "sha256:1"
    )


def test_a_rule_that_passes_waits_for_a_person(proposals):
    id = proposals.add(1, "dg_1", written())
    found = proposals.find(id)
    assert (found.state, found.decided_by, found.written) == ("proposed", None, written())
    assert proposals.approved() == {}


def test_a_rule_that_its_gates_refuse_is_kept_with_the_reason(proposals):
    found = proposals.find(proposals.add(1, "dg_1", written(why="it does not")))
    assert (found.state, found.decided_by, found.note) == ("rejected", "gates", "it does not")


def test_one_word_of_a_person_leads_to_one_rule(proposals):
    assert proposals.add(1, "dg_1", written())
    assert proposals.add(1, "dg_1", written("other")) is None
    assert len(proposals.page(None, None, 10)) == 1


def test_a_rule_counts_from_approval_until_it_is_withdrawn(proposals):
    id = proposals.add(1, "dg_1", written())
    assert proposals.decide(id, "approved", "ana", "good").decided_by == "ana"
    assert proposals.approved() == {"pump_groans": "title: …"}
    assert proposals.decide(id, "approved", "bo").decided_by == "ana"  # it was so already
    proposals.decide(id, "withdrawn", "bo")
    assert proposals.approved() == {}
    with pytest.raises(UsageError, match="is withdrawn and cannot be approved"):
        proposals.decide(id, "approved", "ana")


def test_two_rules_of_one_name_cannot_both_count(proposals):
    first, second = proposals.add(1, "dg_1", written()), proposals.add(2, "dg_2", written())
    proposals.decide(first, "approved", "ana")
    with pytest.raises(UsageError, match="has the name pump_groans already"):
        proposals.decide(second, "approved", "ana")


def test_a_proposal_that_is_not_there_is_told_of(proposals):
    with pytest.raises(NotFound):
        proposals.decide("pr_none", "approved", "ana")
