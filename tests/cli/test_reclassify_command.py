import csv
import io
import json


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


def test_without_stored_diagnoses_there_is_nothing_to_change(plant, tmp_path):
    told = plant("reclassify", FIRSTFAULT_DATA_DIR=str(tmp_path))
    assert told.status == 0, told.err
    assert "0 of 0 judged" in told.out


def test_a_folder_takes_no_filters_and_must_be_there(plant, tmp_path):
    assert plant("reclassify", tmp_path, "--apply").status == 2
    assert plant("reclassify", tmp_path / "nowhere").status == 2
