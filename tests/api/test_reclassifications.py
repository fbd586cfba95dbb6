"""Old diagnoses under other rules: told, applied, from what was kept or from the logs."""

import csv
import io
import shutil
import signal

import pytest

from app.reason.fake import FakeModel
from app.reason.script import Script
from tests.api.server import REAL, ended, running
from tests.small_rules import write_rules
from tests.waiting import until

LOGS = ["pump 3 leaks\n", "waited 30 s for the pump\n", "all is well\n"]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A data folder with three diagnoses, and the rules that they were made under."""
    folder = tmp_path_factory.mktemp("stored")
    rules = write_rules(folder / "rules")
    server = running(folder / "data", program=REAL, rules_dir=rules)
    with server as found, found.client() as client:
        for number, log in enumerate(LOGS):
            told = {"job_id": number, "cluster": "c1"}
            answer = client.post("/v1/diagnoses", content=log, params=told)
            ended(client, answer.json()["id"])
    return folder


@pytest.fixture
def shop(stored, tmp_path):
    """A copy of it whose rules may be changed."""
    shutil.copytree(stored, tmp_path / "shop")
    return tmp_path / "shop"


def serving(shop, *, settings: dict[str, object] | None = None, **changed: tuple[str, str]):
    for name, (old, new) in changed.items():
        (file,) = (shop / "rules").rglob(f"{name}.yaml")
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
    return running(shop / "data", program=REAL, rules_dir=shop / "rules", **(settings or {}))


def reclassified(client, **told):
    accepted = client.post("/v1/reclassifications", json=told)
    assert accepted.status_code == 202, accepted.text
    run = accepted.headers["location"]
    until(lambda: client.get(run).json()["status"] != "running")
    found = client.get(run).json()
    assert found["status"] == "complete", found
    return found


def refused(client, status: int, **told) -> str:
    answer = client.post("/v1/reclassifications", json=told)
    assert answer.status_code == status, answer.text
    return answer.json()["detail"]


def causes(client):
    items = client.get("/v1/diagnoses").json()["items"]
    return {item["job"]["job_id"]: item["cause"] for item in items}


ACTION = {"PumpFault": ("action: cordon_and_restart", "action: fix_config")}
PATTERN = {"pump": ("pump (?P<pump>\\d+) leaks", "(?:pump|all) (?P<pump>\\w+) (?:leaks|well)")}


def test_a_dry_run_tells_what_would_change_and_changes_nothing(shop):
    with serving(shop, **ACTION) as server, server.client() as client:
        found = reclassified(client)
        (change,) = found["changed"]
        assert (change["cause"], change["action_before"]) == ("PumpFault", "cordon_and_restart")
        assert change["action"] == "fix_config"
        assert "what was kept of its log" in change["why"]
        assert (found["total"], found["done"], found["from_kept"]) == (3, 3, 3)
        assert (found["changed_count"], found["unjudged_count"], found["next"]) == (1, 0, None)
        item = client.get("/v1/diagnoses", params={"cause": "PumpFault"}).json()["items"][0]
        assert item["action"] == "cordon_and_restart"


def test_what_is_applied_replaces_the_verdict_and_keeps_the_former(shop):
    with serving(shop, **ACTION) as server, server.client() as client:
        found = reclassified(client, apply=True)
        id = found["changed"][0]["diagnosis_id"]
        assert client.get(f"/v1/diagnoses/{id}").json()["recovery"]["action"] == "fix_config"
        (past,) = client.get(f"/v1/diagnoses/{id}/history").json()["items"]
        assert past["action"] == "cordon_and_restart"
        assert past["why"].startswith(found["id"])
        assert reclassified(client, apply=True)["changed"] == []


def test_rules_that_look_for_more_read_the_logs_again(shop):
    with serving(shop, **PATTERN) as server, server.client() as client:
        found = reclassified(client)
        assert (found["from_kept"], found["from_logs"]) == (0, 3)


def test_a_log_that_is_gone_leaves_its_verdict_as_it_is(shop):
    shutil.rmtree(shop / "data" / "uploads")
    with serving(shop, **PATTERN) as server, server.client() as client:
        before = causes(client)
        found = reclassified(client, apply=True)
        assert (found["unread"], found["changed"]) == (3, [])
        assert causes(client) == before


def test_a_filter_chooses_and_the_table_adds_up(shop):
    with serving(shop) as server, server.client() as client:
        assert "PumpFualt is no cause" in refused(client, 422, filter={"cause": "PumpFualt"})
        found = reclassified(client, filter={"cause": "PumpFault"})
        assert found["driver"] == "service"
        assert found["total"] == 1
        assert [(row["cause"], row["count"]) for row in found["table"]] == [("PumpFault", 1)]
        text = client.get(f"/v1/reclassifications/{found['id']}/table.csv").text
        assert [row["cause"] for row in csv.DictReader(io.StringIO(text))] == ["PumpFault"]
        assert reclassified(client, filter={"cluster": "nowhere"})["total"] == 0


def test_a_run_that_has_ended_cannot_be_cancelled_and_an_unknown_one_is_not_found(shop):
    with serving(shop) as server, server.client() as client:
        id = reclassified(client)["id"]
        assert client.post(f"/v1/reclassifications/{id}/cancel").status_code == 400
        for path in ("", "/changes", "/table.csv", "/events"):
            nowhere = client.get(f"/v1/reclassifications/rc_{'0' * 26}{path}")
            assert nowhere.status_code == 404
        with client.stream("GET", f"/v1/reclassifications/{id}/events") as stream:
            assert "event: end" in stream.read().decode()


def test_a_model_is_asked_where_rules_are_in_doubt_and_marks_what_it_changed(shop):
    quote = {"file": None, "line": 1, "text": LOGS[1].strip()}
    opinion = {"quotes": [quote], "against": "none", "cause": "PumpFault", "confidence": "certain"}
    script = {"answers": [{"replies": [{**opinion, "more": None}]}]}
    with FakeModel(Script.model_validate(script)) as model:
        told = {"model": "fake", "model_base_url": model.url}
        with serving(shop, settings=told) as server, server.client() as client:
            found = reclassified(client, model={"name": "another", "calls": 5})
            assert (found["asked"], found["note"]) == (2, None)
            assert [(c["cause"], c["by_model"]) for c in found["changed"]] == [("PumpFault", True)]
            assert (found["model"], found["asked"], found["unheard"]) == ("another", 2, 0)
            assert found["calls"] == len(model.asked) == 2
            assert {question.body["model"] for question in model.asked} == {"another"}
            assert reclassified(client)["changed"] == []
    with serving(shop) as server, server.client() as client:
        assert "FIRSTFAULT_MODEL" in refused(client, 400, model={})


def test_the_logs_of_a_folder_below_a_root_are_judged_and_not_stored(shop, tmp_path):
    jobs = tmp_path / "logs" / "jobs"
    jobs.mkdir(parents=True)
    (jobs / "=1+1.log").write_text("pump 3 leaks\n")
    (jobs / "two.log").write_text("all is well\n")
    (jobs / "three.log").touch()
    (jobs / "four.log").symlink_to(shop / "rules" / "signals" / "pump.yaml")
    roots = {"log_roots": tmp_path / "logs"}
    with serving(shop, settings=roots) as server, server.client() as client:
        uri = jobs.as_uri()
        assert "outside" in refused(client, 403, logs=[tmp_path.as_uri()])
        refused(client, 404, logs=[f"{uri}/nowhere"])
        refused(client, 422, logs=[uri], apply=True)
        (jobs / "four.log").unlink()
        found = reclassified(client, logs=[uri])
        (tmp_path / "logs" / "none").mkdir()
        assert reclassified(client, logs=[(tmp_path / "logs" / "none").as_uri()])["total"] == 0
        assert (found["total"], found["from_logs"], found["unread"]) == (3, 2, 1)
        assert (found["changed_count"], found["unjudged_count"]) == (2, 1)
        assert {(c["log"].rpartition("/")[2], c["cause"]) for c in found["changed"]} == {
            ("=1+1.log", "PumpFault"), ("two.log", "Unknown"), ("three.log", None)
        }  # fmt: skip
        assert {row["cause"]: row["count"] for row in found["table"]} == {
            "PumpFault": 1, "Unknown": 1
        }  # fmt: skip
        assert len(causes(client)) == len(LOGS)
        text = client.get(f"/v1/reclassifications/{found['id']}/changes.csv").text
        assert len(list(csv.DictReader(io.StringIO(text)))) == 3


def test_the_service_can_stop_while_a_model_is_asked_and_goes_on_then(shop):
    with FakeModel(Script.model_validate({"answers": [{"hang": 60}]})) as model:
        told = {"model": "fake", "model_base_url": model.url, "drain_seconds": 0}
        with serving(shop, settings=told) as server, server.client() as client:
            id = client.post("/v1/reclassifications", json={"model": {}}).json()["id"]
            until(lambda: model.asked)
            server.process.terminate()
            assert server.process.wait(40) in (0, -signal.SIGTERM)
        told["model_seconds"] = 1
        with serving(shop, settings=told) as server, server.client() as client:
            until(lambda: client.get(f"/v1/reclassifications/{id}").json()["done"] == 3)
            found = client.get(f"/v1/reclassifications/{id}").json()
    assert (found["total"], found["done"], found["unheard"]) == (3, 3, 2)


@pytest.mark.parametrize(
    "body",
    [
        {"aply": True},
        {"filter": {"since": "soon"}},
        {"filter": {"since": "2026-10-02T00:00:00Z", "until": "2026-10-01T00:00:00"}},
        {"apply": "x"},
        {"model": {"calls": -1}},
        {"model": {"base_url": "http://127.0.0.1"}},
        {"model": "gpt"},
    ],
)
def test_what_cannot_be_meant_is_refused(client, body):
    assert client.post("/v1/reclassifications", json=body).status_code == 422
