"""What processes write about a diagnosis names it, and the request that asked for it."""

import json
import logging

from tests.api.server import running


def lines(server, event: str) -> list[dict[str, object]]:
    """All lines about an event, of whatever process."""
    told = [line for line in server.log.read_text().splitlines() if event in line]
    return [line for line in map(json.loads, told) if line["event"] == event]


def test_lines_of_a_worker_name_diagnosis_and_request(server, client):
    named = {"x-request-id": "night-shift-1"}
    answer = client.post("/v1/diagnoses?wait=60", content=b"warn of fog", headers=named)
    (line,) = lines(server, "of fog")
    assert line["part"] == "worker"
    assert (line["diagnosis_id"], line["request_id"]) == (answer.json()["id"], "night-shift-1")
    assert line["level"] == logging.getLevelName(logging.WARNING).lower()
    client.post("/v1/diagnoses?wait=60", content=b"cause KeyError")
    client.post("/v1/diagnoses?wait=60", content=b"warn of rain")
    (other,) = lines(server, "of rain")
    assert other["diagnosis_id"] != line["diagnosis_id"]
    assert other["request_id"] != "night-shift-1"


def test_a_misspelt_setting_is_told_of_at_the_start(tmp_path):
    with running(tmp_path, log_root="/logs") as found:
        (line,) = lines(found, "a setting that nobody knows")
    assert "did you mean FIRSTFAULT_LOG_ROOTS?" in line["detail"]
    assert (line["part"], line["level"]) == ("service", "warning")
