import json

import httpx2

from app.store.ids import new_id


def events(client, id):
    """Follow a diagnosis until its stream closes."""
    with client.stream("GET", f"/v1/diagnoses/{id}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        blocks = "".join(stream.iter_text()).split("\n\n")
    found = []
    for block in blocks:
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_a_diagnosis_is_followed_from_its_status_over_its_progress_to_its_end(client):
    body = b"sleep 0.4\nsleep 0.4\nsleep 0.4\nsleep 0.4\n"
    id = client.post("/v1/diagnoses", content=body).json()["id"]
    found = events(client, id)
    kinds = [kind for kind, _ in found]
    assert kinds[0] == "status"
    assert kinds[-2:] == ["status", "end"]
    shares = [data["progress"] for kind, data in found if kind == "progress"]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 1
    assert found[-1][1] == {"id": id, "status": "complete", "progress": 1.0}


def test_one_that_has_ended_says_so_and_closes(client):
    id = client.post("/v1/diagnoses?wait=60", content=b"refuse").json()["id"]
    assert events(client, id) == [
        (kind, {"id": id, "status": "failed", "progress": 1.0}) for kind in ("status", "end")
    ]


def test_an_unknown_diagnosis_is_a_404_and_no_stream(client: httpx2.Client):
    assert client.get(f"/v1/diagnoses/{new_id()}/events").status_code == 404


def test_a_listener_who_leaves_disturbs_nothing(client):
    id = client.post("/v1/diagnoses", content=b"sleep 1").json()["id"]
    with client.stream("GET", f"/v1/diagnoses/{id}/events") as stream:
        next(stream.iter_text())
    assert events(client, id)[-1][0] == "end"
