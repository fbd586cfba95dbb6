"""Jobs and hosts over stored verdicts: retry budgets, and hosts that fail different jobs."""

import pytest

from app.service.ledger import retry_of
from app.store.ledger import AttemptKept


def attempt(cause="CUDAError", action="restart", restart=True, fault="f", step=None, **told):
    return AttemptKept(
        "dg", told.get("number"), told.get("status", "complete"), cause, action, restart, "high",
        "it failed", fault, step, 0.0, None, None,
    )  # fmt: skip


def test_the_same_fault_without_progress_spends_the_budget():
    verdict = retry_of([attempt(step=10), attempt(step=10), attempt(step=9)], 3)
    assert (verdict.stop, verdict.same_fault) == (True, 3)
    assert "3 times in a row without progress" in verdict.why


def test_progress_or_another_fault_begins_the_count_anew():
    assert retry_of([attempt(step=10), attempt(step=20), attempt(step=30)], 3).same_fault == 1
    assert retry_of([attempt(), attempt(fault="g"), attempt()], 2).same_fault == 1
    assert not retry_of([attempt(step=10), attempt(step=20)], 2).stop


@pytest.mark.parametrize(
    ("last", "word"),
    [
        (attempt("KeyError", "fix_code", False), "until it is mended"),
        (attempt("Completed", "none", False), "has finished"),
        (attempt("Unknown", "none", False), "a person should look"),
    ],
)
def test_what_a_restart_cannot_help_stops_at_once(last, word):
    verdict = retry_of([last], 3)
    assert verdict.stop
    assert word in verdict.why


def test_an_attempt_without_verdict_decides_nothing():
    assert not retry_of([attempt(status="failed")], 1).stop


def upload(client, text, **job):
    answer = client.post("/v1/diagnoses", content=text, params={"wait": 20, **job})
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def test_a_job_lists_its_attempts_in_order(client):
    for number in (2, 1):
        told = {"cluster": "ledger", "job_id": "71", "attempt": number}
        upload(client, f"cause KeyError\n{number}", **told)
    found = client.get("/v1/jobs/ledger/71").json()
    assert [each["attempt"] for each in found["attempts"]] == [1, 2]
    assert found["retry"]["stop"]
    assert client.get("/v1/jobs/elsewhere/71").status_code == 404


def test_a_host_is_known_within_its_cluster_only(client):
    upload(client, "cause ECCError\nhost", cluster="east", job_id="1")
    east = client.get("/v1/nodes/east/node-1").json()
    assert [each["cause"] for each in east["diagnoses"]] == ["ECCError"]
    assert client.get("/v1/nodes/west/node-1").json()["diagnoses"] == []


def test_a_host_that_fails_different_jobs_by_its_hardware_is_flagged(client):
    for job in ("1", "1", "2"):
        upload(client, f"cause ECCError\ncordon node-9\n{job}", cluster="north", job_id=job)
    node = client.get("/v1/nodes/north/node-9").json()
    assert (node["flagged"], node["hardware_jobs"], len(node["diagnoses"])) == (True, 2, 3)
    listed = client.get("/v1/nodes/north").json()
    assert listed["exclude"] == "node-9"
    assert client.get("/v1/nodes/south").json() == {
        "cluster": "south",
        "flagged": [],
        "exclude": "",
    }
