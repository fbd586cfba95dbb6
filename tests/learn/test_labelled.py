"""Logs whose cause is known: fixtures, and what people confirmed, as far as anything is left."""

import pytest

from app.learn.draft import draft
from app.learn.labelled import Confirmed, fixtures
from app.learn.trial import Rules, Trial, consequences
from app.model import Job
from app.pipeline import examine
from app.reason.forms import SignalReply
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from app.store.database import connect, transaction
from app.store.diagnoses import Diagnoses, Request, Upload
from app.store.feedback import Feedbacks, Given
from app.store.ids import new_id
from app.store.kept import KeptLogs, keep
from app.store.migrate import migrate
from app.store.outcome import Outcome
from app.store.uploads import Uploads
from app.work.kept import pack
from app.work.roots import LogRoots
from tests.learn.conftest import GOOD, JAMMED, Hall
from tests.small_rules import write_rules

WAITED = f"gauge 1 reads 4\nwaited 30 s for the pump\n{JAMMED}\n"


@pytest.fixture
def confirmed(hall, tmp_path):
    """A confirmed diagnosis whose log was uploaded and whose compressed form was kept."""
    engine = connect(f"sqlite:///{tmp_path / 'f.db'}")
    migrate(engine)
    compiled, uploads, kept = hall.rules.compiled, Uploads(tmp_path / "up"), KeptLogs(engine)
    kept.know(compiled.rulebook.fingerprint, [probe.source for probe in compiled.probes])
    sha, id, diagnoses = uploads.put(WAITED.encode()), new_id(), Diagnoses(engine)
    diagnoses.add(Request(id, Job(), (Upload(sha),)))
    log = examine([uploads.path(sha)], compiled).sighted.log
    outcome = Outcome(
        "{}", "", "Waiting", "plant", "low", "restart", "",
        rules=compiled.rulebook.fingerprint, kept=pack(log),
    )  # fmt: skip
    diagnoses.finish(id, outcome)
    feedbacks = Feedbacks(engine)
    said = feedbacks.said(id)
    feedbacks.add(Given(id, "confirm", "Waiting", "ana", "", said, False, False, False))
    yield Confirmed(feedbacks, diagnoses, kept, uploads, LogRoots(())), uploads.path(sha)
    engine.dispose()


def trial(hall, other, **changed):
    reply = SignalReply.model_validate({**GOOD, **changed})
    failure = hall.log("confirmed", "PumpFault", f"gauge 1 reads 4\n{JAMMED}\n")
    return Trial(draft("PumpFault", reply, ()), [failure], [other], hall.rules)


def test_a_confirmed_diagnosis_is_judged_by_its_log(hall, confirmed):
    (log,) = confirmed[0].all()
    assert (log.cause, len(log.paths)) == ("Waiting", 1)
    assert log.case(hall.rules.compiled).diagnosis.verdict.primary.cause == "Waiting"


def test_when_the_log_is_gone_what_was_kept_shows_the_harm_of_a_new_pattern(hall, confirmed):
    known, path = confirmed
    path.unlink()
    (log,) = known.all()
    assert log.paths == ()
    (outcome,) = trial(hall, log).elsewhere
    assert (outcome.cause, outcome.met) == ("PumpFault", 1)
    assert trial(hall, log).was_right(log)


def test_what_was_kept_is_loaded_no_sooner_than_it_is_judged(hall, confirmed, tmp_path):
    known, path = confirmed
    path.unlink()
    (log,) = known.all()
    with transaction(connect(f"sqlite:///{tmp_path / 'f.db'}"), writes=True) as connection:
        keep(connection, log.diagnosis_id, "sha256:1", None)
    assert log.case(hall.rules.compiled) is None


def test_a_story_whose_verdict_is_known_to_be_wrong_is_no_measure(tmp_path):
    told = "origin: made up\nprimary: Waiting\npresent: []\nevidence: []\naction: restart\n"
    for name, more in (("right", ""), ("open", "open: {verdict: nobody knows how to tell}\n")):
        (tmp_path / f"{name}.log").write_text("a\n")
        (tmp_path / f"{name}.yaml").write_text(told + more)
    assert [log.name for log in fixtures(tmp_path)] == ["fixture right"]


STORM = """\
title: It stormed
summary: The wind stopped the mill.
recovery:
  action: restart
  steps: Wait.
"""
WIND = """\
title: The wind
summary: What the vane prints.
signals:
  - name: storm_seen
    cause: Storm
    strength: clue
    match: 'the vane stood still for (?P<timeout_s>\\d+) s'
    says: it stormed
    hits: 'the vane stood still for 30 s'
    misses: 'the vane turns'
"""


STORMY = f"""\
2026-03-03 04:12:09,112 {JAMMED}
2026-03-03 04:12:30,112 the vane stood still for 30 s
"""


def test_what_stands_before_the_signal_is_said_to_be_its_consequence(tmp_path):
    """The vane's wait began before the valve jammed, and was told of later."""
    changed = {"causes/plant/Storm.yaml": STORM, "signals/wind.yaml": WIND}
    folder = write_rules(tmp_path / "rules", changed)
    hall = Hall(tmp_path, Rules(folder, tmp_path / "learned", Compiled(load(folder))))
    failure = hall.log("both", "PumpFault", STORMY)
    one = draft("PumpFault", SignalReply.model_validate({**GOOD, "strength": "clue"}), ())
    first = Trial(one, [failure], [], hall.rules)
    assert not first.found[0].is_right
    assert consequences(first) == ("storm_seen",)
    better = Trial(one.explaining("storm_seen"), [failure], [], hall.rules)
    assert better.found[0].is_right
    assert consequences(better) == ()


def test_a_name_that_is_taken_gets_a_number():
    reply = SignalReply.model_validate(GOOD)
    assert draft("PumpFault", reply, {"valve_jammed", "valve_jammed_2"}).name == "valve_jammed_3"
