"""Feedback and decisions about written rules on the command line, beside no service."""

from collections.abc import Callable
from functools import partial

import pytest

from app.incident import Snippet
from app.model import Job
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Request, Upload
from app.store.feedback import Feedbacks
from app.store.ids import new_id
from app.store.migrate import migrate
from app.store.outcome import Outcome, Remembered
from app.store.proposals import Passed, Proposals, Shown, Written
from tests.cli.running import Command, Told

TEXT = """\
title: Learned
summary: A person confirmed what it finds.
signals:
  - name: pump_groans
    cause: PumpFault
    strength: proof
    match: 'pump \\d+ groans'
    says: the pump groans
    hits: 'pump 3 groans'
    misses: 'pump 3 hums'
"""


@pytest.fixture
def ask(plant: Command, tmp_path) -> Callable[..., Told]:
    """The command beside the data of a service."""
    return partial(plant, FIRSTFAULT_DATA_DIR=str(tmp_path / "data"))


@pytest.fixture
def engine(tmp_path):
    found = connect(f"sqlite:///{tmp_path / 'data' / 'firstfault.db'}")
    migrate(found)
    yield found
    found.dispose()


@pytest.fixture
def proposal(engine):
    gates = (Passed("is_specific", None),)
    made = Written("pump_groans", "PumpFault", TEXT, "fake", 2, (Shown("dg", ("a",)),), gates, "")
    return Proposals(engine).add(1, "dg_1", made)


def diagnosed(engine):
    diagnoses, id = Diagnoses(engine), new_id()
    diagnoses.add(Request(id, Job(), (Upload("0" * 64),)))
    told = Remembered("fp", Snippet(("a line",)), Job())
    diagnoses.finish(id, Outcome("{}", "", "Waiting", "d", "low", "restart", "", remembered=told))
    return id


def test_a_note_without_an_end_is_refused_and_nothing_is_kept(ask, engine):
    id = diagnosed(engine)
    told = ask("feedback", id, "--confirm", "--note", "x" * 10_001)
    assert (told.status, "at most 10000 characters" in told.err) == (2, True)
    assert Feedbacks(engine).of(id) == []


def test_an_answer_is_corrected_with_a_name_and_a_note(ask, engine):
    id = diagnosed(engine)
    told = ask("feedback", id, "--cause", "PumpFault", "--by", "ana", "--note", "I heard it groan")
    assert (told.status, told.err) == (0, "")
    assert "Waiting is wrong; PumpFault is right" in told.out
    (kept,) = Feedbacks(engine).of(id)
    assert (kept.verdict, kept.cause, kept.by, kept.writing) == (
        "correct", "PumpFault", "ana", "wanted",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--cause", "PumpFoult"], "PumpFoult is no cause; did you mean PumpFault?"),
        ([], "say --confirm, or --cause"),
        (["--confirm", "--cause", "PumpFault"], "say --confirm, or --cause"),
    ],
)
def test_a_word_that_cannot_be_meant_is_refused(ask, engine, words, why):
    told = ask("feedback", diagnosed(engine), *words)
    assert told.status == 2
    assert why in told.err


def test_an_approved_rule_counts_on_the_command_line_until_it_is_withdrawn(ask, tmp_path, proposal):
    log = tmp_path / "job.log"
    log.write_text("gauge 1 reads 4\npump 9 groans\n")
    assert "Unknown" in ask("diagnose", str(log)).out
    assert f"pump_groans · proposed · {proposal}" in ask("rules", "proposals").out
    assert ask("rules", "approve", proposal, "--by", "ana").out == "pump_groans is approved\n"
    assert "PumpFault" in ask("diagnose", str(log)).out
    assert "3 signals" in ask("rules", "check").out
    assert ask("rules", "export", str(tmp_path / "out")).status == 0
    assert (tmp_path / "out" / "signals" / "pump_groans.yaml").read_text() == TEXT
    assert ask("rules", "withdraw", proposal).status == 0
    assert "Unknown" in ask("diagnose", str(log)).out
    assert "withdrawn by" in ask("rules", "proposals", "--state", "withdrawn").out


def test_a_rule_that_is_past_its_decision_is_refused(ask, proposal):
    assert ask("rules", "reject", proposal, "--note", "too broad").status == 0
    told = ask("rules", "approve", proposal)
    assert told.status == 2
    assert "is rejected and cannot be approved" in told.err
