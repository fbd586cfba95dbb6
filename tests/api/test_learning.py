"""A cause that no rule knows becomes one that rules find alone: over HTTP, with a fake model."""

import time

import pytest

from app.reason.fake import FakeModel
from app.reason.script import Script
from tests.api.server import REAL, ended, running
from tests.small_rules import write_rules

LOG = "gauge 1 reads 4\nvalve 7 of hall-a jammed shut, the line is closed\n"
OTHER = "gauge 8 reads 1\nvalve 31 of hall-q jammed shut, the line is closed\n"
SIGNAL = {
    "why": "The controller says so when a valve no longer moves.",
    "name": "valve_jammed",
    "says": "valve {valve} jammed shut",
    "strength": "proof",
    "match": [r"valve (?P<valve>\d+) of [\w-]+ jammed shut"],
    "exception": [],
    "message": None,
    "unless": None,
    "hits": ["valve 7 of hall-a jammed shut, the line is closed"],
    "misses": ["valve 7 of hall-a jammed for a moment"],
}
OPINION = {
    "quotes": [
        {"file": None, "line": 2, "text": "valve 7 of hall-a jammed shut, the line is closed"}
    ],
    "against": "nothing",
    "cause": "PumpFault",
    "confidence": "certain",
    "more": None,
}
UNKNOWN = {**OPINION, "quotes": [], "cause": "Unknown", "confidence": "doubtful"}
WAITED = """\
origin: made up
primary: Waiting
present: [Waiting]
evidence: [2]
action: restart
"""
HEALTHY = """\
origin: made up
primary: Completed
present: []
evidence: []
action: none
"""


@pytest.fixture
def folders(tmp_path):
    stories = tmp_path / "fixtures"
    (stories / "Waiting").mkdir(parents=True)
    (stories / "Completed").mkdir()
    (stories / "Waiting" / "long.log").write_text("gauge 1 reads 4\nwaited 30 s for the pump\n")
    (stories / "Waiting" / "long.yaml").write_text(WAITED)
    (stories / "Completed" / "well.log").write_text("valve 7 of hall-a opens\n" * 5)
    (stories / "Completed" / "well.yaml").write_text(HEALTHY)
    return {"rules_dir": write_rules(tmp_path / "rules"), "fixtures_dir": stories}


def answers(opinion, *signals):
    return Script.model_validate(
        {
            "answers": [
                {"when": {"purpose": "name the cause"}, "replies": [opinion]},
                {"when": {"purpose": "write a signal"}, "replies": list(signals)},
            ]
        }
    )


def diagnosed(client, log):
    sent = client.post(
        "/v1/diagnoses", content=log.encode(), headers={"content-type": "text/plain"}
    )
    return settled(client, sent.json()["id"])


def settled(client, id, seconds=90):
    end = time.monotonic() + seconds
    while (found := ended(client, id, seconds))["status"] != "complete":
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


def reviewed(client, id, **told):
    answer = client.post(f"/v1/diagnoses/{id}/feedback", json=told)
    assert answer.status_code == 201, answer.text
    return answer.json()


def written(client, id, seconds=60):
    """Wait until the writing has ended; give what came of it, and the proposals."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        (*_, last) = client.get(f"/v1/diagnoses/{id}/feedback").json()["items"]
        if last["writing"] != "wanted":
            return last["writing_note"], client.get("/v1/rules/proposals").json()["items"]
        time.sleep(0.2)
    raise AssertionError("no rule was written")


@pytest.mark.parametrize("opinion", [OPINION, UNKNOWN], ids=["the model names it", "nobody does"])
def test_a_cause_that_no_rule_knew_is_found_by_rules_alone_in_the_end(tmp_path, folders, opinion):
    with (
        FakeModel(answers(opinion, SIGNAL)) as fake,
        running(
            tmp_path / "data", program=REAL, model="fake", model_base_url=fake.url, **folders
        ) as server,
        server.client() as client,
    ):
        before = client.get("/v1/rules").json()
        first = diagnosed(client, LOG)
        known = opinion["cause"] == "PumpFault"
        assert first["primary"]["cause"] == ("PumpFault" if known else "Unknown")
        assert first["method"] == ("model" if known else "rules")
        word = {"verdict": "confirm"} if known else {"verdict": "correct", "cause": "PumpFault"}
        kept = reviewed(client, first["id"], by="ana", note="the valve was rusty", **word)
        assert (kept["cause"], kept["by"], kept["writing"]) == ("PumpFault", "ana", "wanted")

        (told,) = client.get(f"/v1/diagnoses/{first['id']}/history").json()["feedback"]
        assert (told["by"], told["note"]) == ("ana", "the valve was rusty")

        note, (proposal,) = written(client, first["id"])
        assert note == f"written as {proposal['id']}"
        assert proposal["state"] == "proposed"
        assert not any(gate["why"] for gate in proposal["gates"])
        assert len(proposal["gates"]) == 8
        asked = next(asked for asked in fake.asked if asked.purpose == "write a signal")
        assert "valve 7 of hall-a jammed shut" in asked.text
        assert "the valve was rusty" in asked.text
        assert "valve 7 of hall-a opens" in asked.text  # a healthy line that is like it

        reviewed(client, first["id"], by="bo", verdict="correct", cause="PumpFault")
        note, once = written(client, first["id"])
        assert note == f"{proposal['id']} was written for it and waits for a decision"
        assert len(once) == 1

        place = f"/v1/rules/proposals/{proposal['id']}"
        approved = client.post(f"{place}/approve", json={"by": "bo", "note": "looks right"}).json()
        assert (approved["state"], approved["decided_by"]) == ("approved", "bo")
        rules = client.get("/v1/rules").json()
        assert rules["version"] != before["version"]
        assert [one["name"] for one in rules["signals"] if one["learned"]] == ["valve_jammed"]
        learned = tmp_path / "data" / "rules.learned" / "signals" / "valve_jammed.yaml"
        assert learned.read_text() == proposal["text"]

        second = diagnosed(client, OTHER)
        assert second["method"] == "rules"
        assert second["primary"]["cause"] == "PumpFault"
        assert second["primary"]["signal"] == "valve_jammed"
        assert second["primary"]["summary"] == "A pump failed: valve 31 jammed shut"
        assert second["versions"]["rules"] == rules["version"]
        assert client.get(place).json()["hits"] == 1
        figures = client.get("/metrics").text
        right = 'firstfault_reviewed{method="model",right="yes"} 1.0'
        wrong = 'firstfault_reviewed{method="rules",right="no"} 1.0'
        assert (right if known else wrong) in figures

        withdrawn = client.post(f"{place}/withdraw").json()
        assert (withdrawn["state"], withdrawn["decided_by"]) == ("withdrawn", "anonymous")
        assert not learned.exists()
        assert client.get("/v1/rules").json()["version"] == before["version"]
        third = diagnosed(client, OTHER)
        assert third["primary"]["signal"] != "valve_jammed"
