import csv
import gzip
import io
import json

import pytest

from app.store.database import connect
from app.store.migrate import migrate
from app.store.reclassifications import Reclassifications
from app.store.run import Change, Chosen
from app.store.toll_csv import changes_csv


def test_a_folder_of_logs_gives_a_table_by_cause(plant, tmp_path):
    kept = {"FIRSTFAULT_DATA_DIR": str(tmp_path / "data")}
    tmp_path = tmp_path / "jobs"
    tmp_path.mkdir()
    (tmp_path / "one.log").write_text("pump 3 leaks\n")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "rank0.log").write_text("all is well\n")
    (tmp_path / "three.log").touch()
    told = plant("reclassify", tmp_path, "--output", "json", **kept)
    assert told.status == 0, told.err
    found = json.loads(told.out)
    assert (found["run"]["total"], found["run"]["unread"]) == (3, 1)
    assert sum(row["count"] for row in found["table"]) == 2
    text = plant("reclassify", tmp_path, "--output", "csv", **kept).out
    assert sum(int(row["count"]) for row in csv.DictReader(io.StringIO(text))) == 2
    assert "cause" in plant("reclassify", tmp_path, **kept).out


def test_a_log_that_takes_too_long_is_listed_with_the_reason(plant, tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "one.log").write_text("pump 3 leaks\n")
    block = gzip.compress(b"pump 3 leaks\n" * 100_000)
    (tmp_path / "jobs" / "two.log.gz").write_bytes(block * 2000)
    settings = {"DATA_DIR": tmp_path / "data", "DIAGNOSIS_SECONDS": 0.2}
    chosen = {f"FIRSTFAULT_{name}": str(value) for name, value in settings.items()}
    told = plant("reclassify", tmp_path / "jobs", "--output", "json", **chosen)
    assert told.status == 0, told.err
    found = json.loads(told.out)
    assert (found["run"]["done"], found["run"]["unread"]) == (2, 1)
    assert [(change["cause"], change["why"]) for change in found["changed"]][1:] == [
        (None, "it was not judged within 0.2 seconds")
    ]
    assert "set aside" in told.err


@pytest.fixture
def data(tmp_path):
    """A data folder with an empty database."""
    migrate(connect(f"sqlite:///{tmp_path / 'data' / 'firstfault.db'}"))
    return str(tmp_path / "data")


def test_the_outcome_says_whether_it_was_a_dry_run(plant, data):
    told = plant("reclassify", FIRSTFAULT_DATA_DIR=data)
    assert told.status == 0, told.err
    assert "dry run: 0 of 0 verdicts would change; 0 of 0 judged" in told.out
    told = plant("reclassify", "--apply", FIRSTFAULT_DATA_DIR=data)
    assert "applied: 0 of 0 verdicts changed" in told.out


def test_where_no_service_has_run_nothing_is_made(plant, tmp_path):
    data = tmp_path / "data"
    assert "no service has run" in plant.refused("reclassify", FIRSTFAULT_DATA_DIR=str(data))
    assert not data.exists()


def test_a_choice_that_nothing_can_meet_is_refused(plant, data):
    kept = {"FIRSTFAULT_DATA_DIR": data}
    assert "PumpFualt is no cause" in plant.refused("reclassify", "--cause", "PumpFualt", **kept)
    assert plant("reclassify", "--cause", "PumpFault", **kept).status == 0
    times = ("--since", "2026-10-02", "--until", "2026-10-01")
    assert "--since is not before" in plant.refused("reclassify", *times, **kept)


def test_a_folder_takes_no_filters_and_must_be_there(plant, tmp_path):
    assert plant("reclassify", tmp_path, "--apply").status == 2
    assert plant("reclassify", tmp_path / "nowhere").status == 2
    assert "empty" in plant.refused("reclassify", "")


@pytest.mark.parametrize(
    "words",
    [
        ("--resume", "rc_nowhere"),
        ("--resume", "rc_nowhere", "--apply"),
        ("--with-model",),
        ("--model", "m", "--prompts", "/nowhere"),
        ("--model-calls", "-1"),
        ("--output", "xml"),
    ],
)
def test_what_cannot_be_meant_is_refused(plant, tmp_path, words):
    plant.refused("reclassify", *words, FIRSTFAULT_DATA_DIR=str(tmp_path / "data"))


def test_rules_with_a_fault_begin_no_run(plant, data, tmp_path):
    (tmp_path / "rules" / "signals" / "pump.yaml").write_text("title: 7\n")
    assert "pump.yaml" in plant.refused("reclassify", FIRSTFAULT_DATA_DIR=data)
    assert Reclassifications(connect(f"sqlite:///{data}/firstfault.db")).page(9) == []


def test_a_run_that_was_broken_off_is_resumed_by_its_name_and_one_that_ended_is_not(
    plant, tmp_path
):
    kept = {"FIRSTFAULT_DATA_DIR": str(tmp_path / "data")}
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "one.log").write_text("pump 3 leaks\n")
    first = json.loads(plant("reclassify", tmp_path / "jobs", "--output", "json", **kept).out)
    runs = Reclassifications(connect(f"sqlite:///{tmp_path / 'data' / 'firstfault.db'}"))
    chosen = Chosen(logs=(str(tmp_path / "jobs"),))
    rules = first["run"]["rules"]
    run = runs.begin(chosen, applies=False, rules=rules, driver="command", total=1)
    told = plant("reclassify", "--resume", run.id, "--output", "json", **kept)
    assert json.loads(told.out)["changed"] == first["changed"]
    assert "nothing to resume" in plant.refused("reclassify", "--resume", run.id, **kept)
    other = runs.begin(chosen, applies=False, rules="sha256:0", driver="command", total=1)
    told = plant("reclassify", "--resume", other.id, **kept)
    assert told.status == 2
    assert "the rules have changed" in told.err
    assert runs.find(other.id).status == "failed"


def test_a_cell_that_a_spreadsheet_would_reckon_with_is_text():
    text = "".join(changes_csv([Change("=1+1.log", why="@SUM(A1)")]))
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["subject"], row["why"]) == ("'=1+1.log", "'@SUM(A1)")
