"""What people say of answers, and how answers fared by it."""

import pytest

from app.errors import NotReady
from app.incident import Snippet
from app.model import Job
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Request, Upload
from app.store.feedback import Feedbacks, Given
from app.store.ids import new_id
from app.store.incidents import Incidents
from app.store.migrate import migrate
from app.store.outcome import Outcome, Remembered


@pytest.fixture
def engine(tmp_path):
    found = connect(f"sqlite:///{tmp_path / 'f.db'}")
    migrate(found)
    yield found
    found.dispose()


def diagnosed(engine, cause, method="rules"):
    diagnoses, id = Diagnoses(engine), new_id()
    diagnoses.add(Request(id, Job(), (Upload("0" * 64),)))
    told = Remembered("fp", Snippet(("a line",)), Job())
    diagnoses.finish(
        id,
        Outcome("{}", "", cause, "d", "low", "none", "", method=method, remembered=told),
    )
    return id


def given(engine, id, cause, *, by="ana", **flags):
    said = Feedbacks(engine).said(id)
    told = {"false_restart": False, "false_cordon": False, "wants_rule": False, **flags}
    verdict = "confirm" if cause == said.cause else "correct"
    return Feedbacks(engine).add(Given(id, verdict, cause, by, "", said, **told))


def test_a_word_is_kept_and_changes_the_incident(engine):
    id = diagnosed(engine, "Unknown")
    given(engine, id, "ECCError", by="bo")
    incident = Incidents(engine).find(id)
    assert (incident.cause, incident.confirmed.by) == ("ECCError", "bo")
    kept = Feedbacks(engine).of(id)
    assert [(one.verdict, one.cause, one.said_cause) for one in kept] == [
        ("correct", "ECCError", "Unknown")
    ]


def test_all_words_are_kept_and_the_last_one_counts(engine):
    id = diagnosed(engine, "KeyError")
    for cause in ("TypeError", "KeyError"):
        given(engine, id, cause)
    feedbacks = Feedbacks(engine)
    assert [one.cause for one in feedbacks.of(id)] == ["TypeError", "KeyError"]
    assert [one.cause for one in feedbacks.labels(10)] == ["KeyError"]
    score = feedbacks.score()
    assert (score.right, score.wrong) == ({"rules": 1}, {})


def test_the_score_tells_methods_apart_and_counts_what_did_harm(engine):
    given(engine, diagnosed(engine, "KeyError"), "KeyError")
    given(engine, diagnosed(engine, "ECCError", "model"), "KeyError", false_restart=True)
    score = Feedbacks(engine).score()
    assert (score.right, score.wrong) == ({"rules": 1}, {"model": 1})
    assert (score.false_restarts, score.false_cordons) == (1, 0)


def test_there_is_nothing_to_say_of_what_has_no_answer(engine):
    id = new_id()
    Diagnoses(engine).add(Request(id, Job(), (Upload("0" * 64),)))
    with pytest.raises(NotReady):
        Feedbacks(engine).said(id)


def test_a_wish_for_a_rule_waits_until_it_is_done(engine):
    id = diagnosed(engine, "Unknown")
    wished = given(engine, id, "ECCError", wants_rule=True)
    feedbacks = Feedbacks(engine)
    assert feedbacks.wanting() == [wished.id]
    feedbacks.done(wished.id, "proposed")
    assert feedbacks.wanting() == []
    assert feedbacks.find(wished.id).writing_note == "proposed"
