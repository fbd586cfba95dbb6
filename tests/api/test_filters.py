"""Filters from end to end: the service as it ships, and a fake model beside it."""

import re

import pytest
import yaml
from pydantic import TypeAdapter

from app.api.filters import FilterList
from app.reason.fake import FakeModel
from app.reason.script import Script
from app.rulebook.lines import FilterForm
from tests.api.server import REAL, running
from tests.cli.running import Command
from tests.logagent.formats import FORMATS, reply, write
from tests.waiting import until

ORBIT = FORMATS[0]
SIZE = 400_000
POISON = {
    "name": "orbit_all",
    "title": "All that it says",
    "why": "It is routine.",
    "match": "orbit|CUDA error",
    "hits": ["orbit"],
    "misses": ["oh"],
    "claimed_share": 1,
}


@pytest.fixture(scope="module")
def model():
    line = {"when": {"purpose": "write filters"}, "replies": [reply(ORBIT, POISON)]}
    with FakeModel(Script.model_validate({"answers": [line]})) as fake:
        yield fake


@pytest.fixture(scope="module")
def server(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("filters")
    settings = {"model": "fake", "model_base_url": model.url, "memory": False}
    with running(folder, program=REAL, **settings) as found:
        yield found


@pytest.fixture(scope="module")
def client(server):
    with server.client(timeout=60) as found:
        yield found


def diagnosed(client, folder, seed, **job):
    """Have one log diagnosed; give the answer, its digest, and the lines that must be in it."""
    log = write(ORBIT, folder / f"{seed}.log", SIZE, seed)
    told = {"wait": 60, "exit_code": 1, **job}
    headers = {"Content-Type": "text/plain"}
    answered = client.post(
        "/v1/diagnoses", params=told, content=log.path.read_bytes(), headers=headers
    )
    assert answered.status_code == 200
    return answered.json(), client.get(answered.headers["location"] + "/digest").text, log.wanted


def filters(client, **query):
    answered = client.get("/v1/filters", params=query)
    assert answered.status_code == 200
    return TypeAdapter(FilterList).validate_json(answered.content).items


def asked(model):
    return [one for one in model.asked if one.purpose == "write filters"]


@pytest.fixture(scope="module")
def written(client, model, tmp_path_factory):
    """A service that has seen a first log of a type, and has written filters for it."""
    answer, _, _ = diagnosed(client, tmp_path_factory.mktemp("logs"), 1, job_type="orbit-7b")
    until(lambda: filters(client), 240)
    return answer


def test_a_log_over_its_budget_has_filters_written_and_the_poison_is_left_out(client, written):
    assert written["log"]["ratio"] == 1
    found = filters(client, job_type="orbit-7b")
    assert [one.name for one in found] == ["orbit_fuel", "orbit_ticks"]
    assert {(one.votes, one.answers, one.author) for one in found} == {(5, 5, "fake log_agent/2")}


def test_the_next_log_of_the_type_is_read_with_them_and_no_model_is_asked(
    client, written, model, tmp_path
):
    before = len(asked(model))
    answer, digest, wanted = diagnosed(client, tmp_path, 2, job_type="orbit-7b")
    assert answer["primary"]["cause"] == ORBIT.cause
    assert answer["log"]["ratio"] < 0.01
    assert all(f"\n{number}: " in digest for number in wanted)
    assert len(asked(model)) == before
    assert all(one.lines_taken > 1_000 for one in filters(client, job_type="orbit-7b"))


def test_a_log_without_a_type_is_recognised(client, written, tmp_path):
    answer, _, _ = diagnosed(client, tmp_path, 3)
    assert answer["log"]["ratio"] < 0.01


def test_one_filter_is_switched_off_and_on(client, written, tmp_path):
    one = filters(client, job_type="orbit-7b")[0]
    assert client.post(f"/v1/filters/{one.id}/off").json()["state"] == "off"
    answer, _, _ = diagnosed(client, tmp_path, 4, job_type="orbit-7b")
    assert 0.4 < answer["log"]["ratio"] < 0.6
    assert client.post(f"/v1/filters/{one.id}/on").json()["state"] == "active"
    answer, _, _ = diagnosed(client, tmp_path, 5, job_type="orbit-7b")
    assert answer["log"]["ratio"] < 0.01
    assert len(filters(client)) == 2


@pytest.mark.parametrize(("path", "status"), [("fr_x/off", 404), ("fr_x/away", 422)])
def test_what_is_not_there_cannot_be_switched(client, path, status):
    assert client.post(f"/v1/filters/{path}").status_code == status


@pytest.fixture(scope="module")
def command(server):
    run = Command(server.data / "cache")
    return lambda *words: run(*words, FIRSTFAULT_DATA_DIR=str(server.data))


def test_the_command_line_lists_switches_and_exports_them(command, client, written, tmp_path):
    told = command("filters", "list").out
    assert "orbit-7b/orbit_ticks · active" in told
    id = re.findall(r"fr_\w+", told)[0]
    assert command("filters", "off", id).out.endswith(": off\n")
    assert id in command("filters", "list", "--state", "off").out
    assert command("filters", "on", id).out.endswith(": active\n")
    assert command("filters", "export", "--into", tmp_path / "out").status == 0
    rule = tmp_path / "out" / "orbit_7b_orbit_ticks.yaml"
    form = FilterForm.model_validate(yaml.safe_load(rule.read_text()))
    assert (form.do, form.status, form.match) == ("drop", "draft", (ORBIT.filters[0][1],))
    assert command("filters", "export").out.count("\n---\n") == 1


def test_the_command_line_reads_a_log_with_them(server, command, written, tmp_path):
    log = write(ORBIT, tmp_path / "x.log", SIZE, 6).path
    assert "lines: orbit_ticks" in command("compress", "--job-type", "orbit-7b", log).out
    assert "lines: orbit_ticks" in command("compress", log).out
    assert "orbit_ticks" not in Command(server.data / "cache")("compress", log).out


def test_without_a_service_there_are_none(server, tmp_path):
    told = Command(server.data / "cache")("filters", "list", FIRSTFAULT_DATA_DIR=str(tmp_path))
    assert told.status == 2
    assert "no service has run here" in told.err


def test_a_service_that_is_killed_while_they_are_written_writes_them_when_it_comes_back(tmp_path):
    slow = {"hang": 30, "times": 1, "replies": [reply(ORBIT)]}
    script = Script.model_validate({"answers": [slow, {"replies": [reply(ORBIT)]}]})
    with FakeModel(script) as fake:
        settings = {"model": "fake", "model_base_url": fake.url, "memory": False, "program": REAL}
        with running(tmp_path / "data", **settings) as server, server.client(60) as client:
            diagnosed(client, tmp_path, 1, job_type="orbit-7b")
            until(lambda: asked(fake))
            server.kill()
        with running(tmp_path / "data", **settings) as server, server.client(60) as client:
            until(lambda: filters(client), 240)
            assert len(filters(client)) == 2


def test_the_figures_tell_what_was_written(client, written):
    figures = client.get("/metrics").text
    assert "firstfault_filters_written_total 2.0" in figures
    assert "firstfault_compression_collapses_total" in figures
