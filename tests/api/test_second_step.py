"""The two steps of a doubtful diagnosis: an answer at once, and a better one when a model spoke."""

import json
import time

import pytest
from pydantic import TypeAdapter

from app.api.schemas import Diagnosis
from app.reason.fake import FakeModel
from app.reason.script import Script
from tests.api.server import REAL, running
from tests.test_consult import DARK, KEYERROR, reply
from tests.waiting import until

NAMED = reply("NodeFailure", (30, "the great wheel of hall 7 came off its shaft"))


def served(tmp_path, *answers, **settings):
    """A model that answers so, and a service that asks it."""
    fake = FakeModel(Script.model_validate({"answers": list(answers)}))
    told = {"model": "fake", "model_base_url": fake.url, "memory": "false", **settings}
    return fake, running(tmp_path / "data", program=REAL, **told)


def asked(client, log, wait=60):
    return client.post(f"/v1/diagnoses?wait={wait}", content=log.encode()).json()


def refined(client, id, seconds=120):
    until(lambda: client.get(f"/v1/diagnoses/{id}").json()["status"] == "complete", seconds)
    found = client.get(f"/v1/diagnoses/{id}")
    TypeAdapter(Diagnosis).validate_json(found.content)
    return found.json()


def test_the_first_answer_is_there_at_once_and_the_better_one_replaces_it(tmp_path):
    fake, service = served(tmp_path, {"hang": 2, "replies": [NAMED]})
    with fake, service as server, server.client(timeout=120) as client:
        first = asked(client, DARK)
        assert (first["status"], first["primary"]["cause"]) == ("refining", "Unknown")
        assert first["method"] == "rules"
        yes = client.post(f"/v1/diagnoses/{first['id']}/feedback", json={"verdict": "confirm"})
        assert (yes.status_code, "not the last word" in yes.text) == (409, True)
        events = client.get(f"/v1/diagnoses/{first['id']}/events").text
        assert events.index('"status":"refining"') < events.index("event: end")
        better = refined(client, first["id"])
        assert (better["method"], better["primary"]["cause"]) == ("model", "NodeFailure")
        assert better["opinion"]["quotes"][0]["line"] == 30
        assert better["versions"]["model"] == "fake"
        (past,) = client.get(f"/v1/diagnoses/{first['id']}/history").json()["items"]
        assert (past["cause"], past["method"]) == ("Unknown", "rules")
        metrics = client.get("/metrics").text
    call = 'firstfault_model_calls_total{outcome="answered",purpose="name the cause"} 1.0'
    assert call in metrics
    assert 'firstfault_refined_total{result="changed"} 1.0' in metrics
    assert 'firstfault_model_tokens_total{direction="asked",purpose="name the cause"}' in metrics


def test_what_is_beyond_doubt_is_complete_at_once(tmp_path):
    fake, service = served(tmp_path, {"replies": [NAMED]})
    with fake, service as server, server.client(timeout=120) as client:
        assert asked(client, KEYERROR)["status"] == "complete"
    assert not fake.asked


@pytest.mark.parametrize("answer", [{"hang": 60}, {"status": 401}], ids=["hangs", "denied"])
def test_a_model_that_fails_costs_its_seconds_and_leaves_the_rules_answer(tmp_path, answer):
    fake, service = served(tmp_path, answer, model_seconds=2)
    with fake, service as server, server.client(timeout=120) as client:
        first = asked(client, DARK)
        began = time.monotonic()
        last = refined(client, first["id"])
        assert time.monotonic() - began < 45  # and the model would hang for longer
        assert last["primary"] == first["primary"]
        assert last["method"] == "rules"
        assert "the language model gave no answer" in last["remarks"][-1]
        assert client.get(f"/v1/diagnoses/{first['id']}/history").json()["items"] == []


def test_a_step_that_a_kill_broke_off_is_made_again(tmp_path):
    fake = FakeModel(
        Script.model_validate({"answers": [{"times": 1, "hang": 60}, {"replies": [NAMED]}]})
    )
    told = {"model": "fake", "model_base_url": fake.url, "memory": "false"}
    with fake:
        with (
            running(tmp_path / "data", program=REAL, **told) as server,
            server.client(timeout=120) as client,
        ):
            first = asked(client, DARK, wait=60)
            until(lambda: fake.asked)
            server.kill()
        with (
            running(tmp_path / "data", program=REAL, **told) as server,
            server.client(timeout=120) as client,
        ):
            assert refined(client, first["id"])["primary"]["cause"] == "NodeFailure"


def test_without_a_model_any_more_an_answer_is_completed_by_that_reason(tmp_path):
    fake = FakeModel(Script.model_validate({"answers": [{"hang": 60}]}))
    told = {"model": "fake", "model_base_url": fake.url, "memory": "false"}
    with fake:
        with (
            running(tmp_path / "data", program=REAL, **told) as server,
            server.client(timeout=120) as client,
        ):
            first = asked(client, DARK, wait=60)
            server.kill()
        with (
            running(tmp_path / "data", program=REAL) as server,
            server.client(timeout=120) as client,
        ):
            last = refined(client, first["id"])
    assert "FIRSTFAULT_MODEL" in json.dumps(last["remarks"])
    assert last["primary"] == first["primary"]
