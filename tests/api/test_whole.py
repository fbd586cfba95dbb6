"""The service as it ships: the command, the shipped rules and the pipeline in the workers."""

import gzip

import pytest
from pydantic import TypeAdapter

from app.api.schemas import Diagnosis
from tests.api.server import REAL, running

LOG = b"""\
iteration 10/ 500 | elapsed time per iteration (ms): 811.0 | lm loss: 7.31E+00 |
iteration 20/ 500 | elapsed time per iteration (ms): 809.2 | lm loss: 7.02E+00 |
Traceback (most recent call last):
  File "/home/mira/sft/run.py", line 61, in <module>
    main()
  File "/home/mira/sft/run.py", line 44, in main
    tokens = batch["packed_ids"]
KeyError: 'packed_ids'
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    with running(folder, program=REAL) as server, server.client(timeout=60) as found:
        yield found


@pytest.mark.parametrize(
    ("body", "encoding"), [(LOG, "identity"), (gzip.compress(LOG), "gzip")], ids=["plain", "gzip"]
)
def test_a_log_is_given_its_cause_with_the_line_that_shows_it(client, body, encoding):
    answered = client.post(
        "/v1/diagnoses?wait=60&job_id=12&exit_code=1",
        content=body,
        headers={"Content-Type": "text/plain", "Content-Encoding": encoding},
    )
    assert answered.status_code == 200
    TypeAdapter(Diagnosis).validate_json(answered.content)
    found = answered.json()
    assert found["primary"]["cause"] == "KeyError"
    assert found["primary"]["first_seen"]["file"] == "log"
    assert "packed_ids" in "".join(line["text"] for line in found["evidence"])
    assert found["recovery"]["restart"] is False
    assert found["job"] == {"job_id": "12", "exit_code": 1}
    digest = client.get(answered.headers["location"] + "/digest").text
    assert "KeyError: 'packed_ids'" in digest


def test_a_body_that_is_no_log_fails_with_a_reason(client):
    answered = client.post("/v1/diagnoses?wait=60", content=b"\x7fELF" + bytes(4000)).json()
    assert answered["status"] == "failed"
    assert answered["error"]["status"] == 422


def test_a_damaged_archive_fails_with_a_reason(client):
    packed = gzip.compress(LOG * 50)
    answered = client.post(
        "/v1/diagnoses?wait=60",
        content=packed[: len(packed) // 2],
        headers={"Content-Encoding": "gzip"},
    ).json()
    assert answered["status"] in ("complete", "failed")
    if answered["status"] == "failed":
        assert answered["error"]["status"] == 422
