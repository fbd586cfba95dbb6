"""Two services that share a PostgreSQL database: nothing is lost and nothing made twice."""

import signal
import time

import pytest

from tests.api.server import ended, running
from tests.postgres import MISSING, postgres

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


@pytest.fixture(scope="module")
def database():
    with postgres() as server:
        yield server


def upload(client, body, **query):
    return client.post("/v1/diagnoses", content=body, params=query)


@pytest.fixture
def pair(database, tmp_path, monkeypatch):
    """Two whose clocks are two hours apart."""
    shared = {"database_url": database.url}
    monkeypatch.setenv("SKEW_SECONDS", "3600")
    with running(tmp_path, replica="one", **shared) as one:
        monkeypatch.setenv("SKEW_SECONDS", "-3600")
        with running(tmp_path, replica="two", **shared) as two:
            yield one, two


def test_what_one_has_accepted_the_other_can_answer(pair):
    one, two = pair
    with one.client() as first, two.client() as second:
        ids = [upload(first, f"sleep 0.1\ncause KeyError\n{n}").json()["id"] for n in range(8)]
        found = [ended(second, id) for id in ids]
        assert [each["primary"]["cause"] for each in found] == ["KeyError"] * 8
        waited = upload(second, b"sleep 0.3\ncause NameError", wait=20)
        assert waited.json()["primary"]["cause"] == "NameError"


def test_the_work_of_a_killed_process_is_taken_over(pair):
    one, two = pair
    with one.client() as first, two.client() as second:
        ids = [upload(first, f"sleep 1.5\ncause KeyError\n{n}").json()["id"] for n in range(4)]
        while not any(first.get(f"/v1/diagnoses/{id}").json()["status"] == "running" for id in ids):
            time.sleep(0.02)
        one.process.send_signal(signal.SIGKILL)
        found = [ended(second, id, 60) for id in ids]
        assert [each["primary"]["cause"] for each in found] == ["KeyError"] * 4
        listed = second.get("/v1/diagnoses", params={"limit": 100}).json()["items"]
        assert len({each["id"] for each in listed}) == len(listed)
