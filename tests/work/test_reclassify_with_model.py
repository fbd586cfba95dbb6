"""Runs that put doubts to a model on a real port: it is heard, paid for, gone; they resume."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.errors import StoreError, UsageError
from app.incident import Snippet
from app.model import Job
from app.reason.budget import Limits
from app.reason.desk import Endpoint
from app.reason.fake import FakeModel
from app.reason.prompt import Prompts
from app.reason.script import Script
from app.rulebook.load import content_hash
from app.store.calls import Calls
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Request, Upload
from app.store.ids import new_id
from app.store.incidents import Incidents
from app.store.kept import KeptLogs
from app.store.migrate import migrate
from app.store.outcome import Remembered
from app.store.reclassifications import Reclassifications
from app.store.run import Allowance, Asks, Chosen
from app.store.uploads import Uploads
from app.work import doubts, reread
from app.work.asking import Asking
from app.work.objects import ObjectStore
from app.work.reclassify import Engine, go_on, run_through
from app.work.surroundings import Surroundings
from app.work.worker import Order, PipelineReader
from tests.small_rules import write_rules
from tests.work.here import Here

PROMPTS = Path(__file__).parent.parent.parent / "prompts"
BROKEN = "the shaft of the third pump broke in two places"
DOUBTFUL = f"the hall opens\nwaited 30 s for the pump\n{BROKEN}\n"
CLEAR = "the hall opens\npump 3 leaks\n"
OPINION = {
    "quotes": [{"file": None, "line": 3, "text": BROKEN}],
    "against": "nothing that I see",
    "cause": "PumpFault",
    "confidence": "certain",
    "more": None,
}


@dataclass
class Plant:
    """A database of diagnoses, the doubtful ones first, and what processes are told of it."""

    where: Surroundings
    prompts: Path
    doubtful: int

    @property
    def runs(self):
        return Reclassifications(connect(self.where.database))

    def begun(self, **limits: int):
        asks = Asks("fake", str(self.prompts), Prompts(self.prompts).fingerprint, **limits)
        rules = self.where.edition
        return self.runs.begin(Chosen(), applies=True, rules=rules, driver="command", asks=asks)

    def asking(self, run, url: str, limits: Limits = Limits()) -> Surroundings:  # noqa: B008
        endpoint = Endpoint("fake", url, seconds=20, parallel=2)
        allowance = Allowance(run.id, run.asks)
        asked = Asking(endpoint, limits, self.prompts, self.where.database, allowance)
        return replace(self.where, asking=asked)

    def went(self, run, url: str, limits: Limits = Limits()):  # noqa: B008
        with Here(1) as pool:
            return run_through(self.runs, run, self.asking(run, url, limits), pool, 1)

    def present(self):
        return {entry.id: entry for entry in Diagnoses(connect(self.where.database)).page()}


def fake(*answers: dict[str, object]) -> FakeModel:
    return FakeModel(Script.model_validate({"answers": list(answers) or [{"replies": [OPINION]}]}))


@pytest.fixture
def plant(tmp_path) -> Plant:
    rules = write_rules(tmp_path / "rules")
    learned, cache = tmp_path / "learned", tmp_path / "cache"
    where = Surroundings(
        database=f"sqlite:///{tmp_path / 'f.db'}", rules=rules, learned=learned, cache=cache,
        edition=content_hash(rules, learned), uploads=tmp_path / "uploads", roots=(),
        max_log_bytes=1 << 20, digest_tokens=1000,
        store=ObjectStore(None, tmp_path / "fetched", 1 << 20),
    )  # fmt: skip
    engine = connect(where.database)
    migrate(engine)
    reader = PipelineReader(rules, learned, cache)
    KeptLogs(engine).know(reader.rules.fingerprint, reader.rules.patterns)
    uploads, diagnoses = Uploads(where.uploads), Diagnoses(engine)
    for text in [DOUBTFUL] * 6 + [CLEAR] * 2:
        sha = uploads.put(text.encode())
        request = Request(new_id(), Job(), (Upload(sha),))
        diagnoses.add(request)
        order = Order(request.id, Job(), (str(uploads.path(sha)),), 1 << 20, 1000)
        outcome = reader.read(order, lambda _: None)
        lines = Remembered(outcome.fingerprint, Snippet((BROKEN,)), Job())
        diagnoses.finish(request.id, replace(outcome, remembered=lines))
    shutil.copytree(PROMPTS, tmp_path / "prompts")
    return Plant(where, tmp_path / "prompts", 6)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr("app.work.reclassify.CHUNK_ASKED", 2)


def test_only_doubts_are_asked_about_and_what_the_model_changed_is_marked(plant):
    run = plant.begun()
    with fake() as model:
        ended = plant.went(run, model.url)
    assert (ended.status, ended.done, ended.asked, ended.unheard) == ("complete", 8, 6, 0)
    assert (ended.from_kept, ended.from_logs) == (8, 0)  # no log was read
    assert len(model.asked) == ended.calls == 6
    changes = plant.runs.changes(run.id, None, 100)
    assert len(changes) == 6
    assert {(c.cause_before, c.cause, c.by_model) for c in changes} == {
        ("Waiting", "PumpFault", True)
    }
    assert "fake" in changes[0].why
    spent = Calls(connect(plant.where.database)).of_diagnosis(changes[0].subject)
    told = [(call.purpose, call.outcome) for call in spent]
    assert told == [("name the cause, reclassifying", "answered")]
    assert ended.tokens == sum(
        call.tokens_in + call.tokens_out
        for change in changes
        for call in Calls(connect(plant.where.database)).of_diagnosis(change.subject)
    )


def test_a_verdict_of_a_model_is_applied_with_its_method_and_remembered(plant):
    with fake() as model:
        run = plant.went(plant.begun(), model.url)
    change = plant.runs.changes(run.id, None, 1)[0]
    engine = connect(plant.where.database)
    (present,) = Diagnoses(engine).present([change.subject])
    assert (present.cause, present.method, present.revision) == ("PumpFault", "model", 2)
    assert Incidents(engine).find(change.subject).cause == "PumpFault"


def test_a_model_that_wants_to_see_more_has_the_log_read(plant):
    more = {**OPINION, "more": {"file": None, "first_line": 1, "last_line": 3, "pattern": None}}
    with fake({"when": {"purpose": "name the cause"}, "replies": [more]},
              {"replies": [OPINION]}) as model:  # fmt: skip
        ended = plant.went(plant.begun(), model.url)
    assert (ended.from_kept, ended.from_logs, ended.calls) == (2, 6, 12)
    assert "the hall opens" in next(q.text for q in model.asked if "second look" in q.purpose)


def test_a_log_that_is_gone_is_judged_from_what_was_kept_and_the_model_is_told(plant):
    shutil.rmtree(plant.where.uploads)
    more = {**OPINION, "more": {"file": None, "first_line": 1, "last_line": 3, "pattern": None}}
    with fake({"when": {"purpose": "name the cause"}, "replies": [more]},
              {"replies": [OPINION]}) as model:  # fmt: skip
        ended = plant.went(plant.begun(), model.url)
    assert (ended.from_kept, ended.from_logs, ended.unread) == (8, 0, 0)
    assert any("the log cannot be read" in question.text for question in model.asked)
    assert {change.cause for change in plant.runs.changes(ended.id, None, 9)} == {"PumpFault"}


def test_a_log_for_whose_copy_there_is_no_room_is_asked_about_once(plant, monkeypatch):
    def full(*_):
        raise StoreError("9 bytes of objects do not fit on the disk: 0 are free")

    monkeypatch.setattr(reread, "copies", full)
    more = {**OPINION, "more": {"file": None, "first_line": 1, "last_line": 3, "pattern": None}}
    with fake({"when": {"purpose": "name the cause"}, "replies": [more]},
              {"replies": [OPINION]}) as model:  # fmt: skip
        ended = plant.went(plant.begun(), model.url)
    assert (ended.status, ended.from_kept, ended.calls) == ("complete", 8, 12)
    assert any("the log cannot be read" in question.text for question in model.asked)


def test_the_calls_of_a_run_are_bounded_over_all_its_chunks(plant):
    with fake() as model:
        ended = plant.went(plant.begun(calls=3), model.url)
    assert len(model.asked) == ended.calls == 3
    assert (ended.status, ended.asked, ended.unheard) == ("complete", 6, 3)
    assert "3 calls" in (ended.note or "")
    assert len(plant.runs.changes(ended.id, None, 9)) == 3


def test_tokens_that_do_not_suffice_for_one_question_have_none_asked(plant):
    with fake() as model:
        ended = plant.went(plant.begun(tokens=10), model.url)
    assert (len(model.asked), ended.unheard, ended.tokens) == (0, 6, 0)
    assert plant.runs.changes(ended.id, None, 9) == []


def test_the_limit_of_a_day_holds_too(plant):
    with fake() as model:
        ended = plant.went(plant.begun(), model.url, Limits(day_tokens=1))
    assert (len(model.asked), ended.unheard) == (0, 6)
    assert "MODEL_DAY_TOKENS" in (ended.note or "")


def test_a_dead_model_leaves_what_rules_say_and_is_soon_left_in_peace(plant, monkeypatch):
    monkeypatch.setattr(doubts, "_SILENT", 2)
    with fake() as model:
        url = model.url
    ended = plant.went(plant.begun(), url)
    assert (ended.status, ended.asked, ended.unheard) == ("complete", 6, 6)
    assert "was not asked after 2 times in a row" in (ended.note or "")
    assert plant.runs.changes(ended.id, None, 9) == []
    assert {entry.cause for entry in plant.present().values()} == {"Waiting", "PumpFault"}


def test_chunks_that_are_done_are_not_paid_for_again(plant):
    run = plant.begun()

    class Dying(Here):
        left = 2

        def submit(self, call, part, where):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            return super().submit(call, part, where)

    with fake() as model:
        with Dying(1) as pool, pytest.raises(KeyboardInterrupt):
            run_through(plant.runs, run, plant.asking(run, model.url), pool, 1)
        halfway = plant.runs.find(run.id)
        assert (halfway.done, halfway.calls) == (4, 4)
        ended = plant.went(halfway, model.url)
        assert len(model.asked) == ended.calls == 6
    assert len(plant.runs.changes(run.id, None, 9)) == 6


def test_two_processes_share_one_purse(plant):
    run = plant.begun(calls=4)
    with fake() as model:
        ended = go_on(plant.runs, run, plant.asking(run, model.url), Engine(2))
        assert len(model.asked) == 4
    assert (ended.status, ended.asked, ended.unheard) == ("complete", 6, 2)


def test_what_a_person_confirmed_stays(plant):
    sure = next(id for id, entry in plant.present().items() if entry.cause == "Waiting")
    Incidents(connect(plant.where.database)).confirm(sure, "kim", cause="Waiting")
    with fake() as model:
        run = plant.went(plant.begun(), model.url)
    assert len(plant.runs.changes(run.id, None, 9)) == 5
    assert plant.present()[sure].cause == "Waiting"


def test_a_later_model_takes_the_place_of_a_former_one_and_a_dead_one_does_not(plant):
    with fake() as model:
        plant.went(plant.begun(), model.url)
        url = model.url
    run = plant.went(plant.begun(), url)  # it is gone by now
    assert plant.runs.changes(run.id, None, 9) == []
    with fake({"replies": [{**OPINION, "cause": "Unknown", "quotes": []}]}) as model:
        run = plant.went(plant.begun(), model.url)
    changes = plant.runs.changes(run.id, None, 9)
    assert {(c.cause_before, c.cause) for c in changes} == {("PumpFault", "Waiting")}
    assert not any(change.by_model for change in changes)


def test_other_prompts_than_those_of_the_run_stop_it(plant):
    run = plant.begun()
    file = plant.prompts / "failure_agent.yaml"
    file.write_text(file.read_text().replace("version: ", "version: 9"))
    with fake() as model, pytest.raises(UsageError, match="prompts"):
        plant.went(run, model.url)
    assert plant.runs.find(run.id).done == 0
