from dataclasses import replace

import sqlalchemy as sa
from prometheus_client.parser import text_string_to_metric_families

from app.store.calls import Calls
from app.store.database import connect
from app.store.tables import CallRow
from tests.api.server import running
from tests.api.test_exits import SECRETS, post, report
from tests.store.test_calls import CALL
from tests.waiting import until


def figures(client):
    """All samples as name and labels to value."""
    text = client.get("/metrics").text
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_fresh_server_is_healthy_and_ready(client):
    assert client.get("/healthz").json() == {"status": "ok"}
    found = client.get("/readyz")
    assert found.status_code == 200
    assert found.json() == {
        "status": "ready", "rules_version": "sha256:fake",
        "database": "ok", "rules": "ok", "disk": "ok",
    }  # fmt: skip


def test_probes_that_want_no_body_get_none(client):
    for path in ("/healthz", "/readyz"):
        found = client.head(path)
        assert (found.status_code, found.content) == (200, b"")
        assert set(client.get("/openapi.json").json()["paths"][path]) == {"get"}


def test_metrics_count_what_was_done(client):
    before = figures(client)
    client.post("/v1/diagnoses?wait=60", content=b"cause NameError")
    client.post("/v1/diagnoses?wait=60", content=b"refuse")
    after = figures(client)

    def more(*name):
        return after[name] - before.get(name, 0)

    assert more("firstfault_diagnoses_complete_total", "NameError") == 1
    assert more("firstfault_diagnoses_failed_total", "SourceError") == 1
    assert more("firstfault_uploaded_bytes_total") == len(b"cause NameError" + b"refuse")
    route = ("/v1/diagnoses", "200", "POST")
    assert more("firstfault_http_request_seconds_count", *route) == 2
    assert more("firstfault_answer_seconds_count") == 2
    for stage in ("queue", "keep"):
        assert more("firstfault_stage_seconds_count", stage) == 2
    for name in ("unfinished", "oldest_unfinished_seconds"):
        assert {after[f"firstfault_{name}", each] for each in ("waiting", "queued")} == {0}
    assert after[("firstfault_uploads_in_progress",)] == 0
    assert after[("firstfault_database_up",)] == 1


def test_metrics_tell_what_waits_and_since_when(tmp_path):
    (tmp_path / "a.log").write_text("cause KeyError")
    chosen = {"log_roots": tmp_path, "webhook_secrets": SECRETS[0], "quiet_log_seconds": 60}
    with running(tmp_path / "data", **chosen) as server, server.client() as client:
        for second in range(3):
            client.post("/v1/diagnoses", content=b"sleep 20\n" * (second + 1))
        assert post(client, report(f"file://{tmp_path}/a.log")).status_code == 202
        until(lambda: figures(client)[("firstfault_running",)])
        found = figures(client)
        assert found["firstfault_unfinished", "queued"] == 3
        assert found["firstfault_unfinished", "waiting"] == 1
        assert found["firstfault_oldest_unfinished_seconds", "queued"] > 0
        assert found[("firstfault_running",)] == 1


def test_metrics_tell_the_calls_of_all_processes_and_keep_them_over_a_restart(tmp_path):
    def asked(client):
        return {name: n for name, n in figures(client).items() if "firstfault_model" in name[0]}

    with running(tmp_path) as server, server.client() as client:
        assert asked(client) == {}
        engine = connect(f"sqlite:///{tmp_path / 'firstfault.db'}")
        for purpose in ("write filters", "write a signal", "name the cause, reclassifying"):
            Calls(engine).add(replace(CALL, purpose=purpose))
        Calls(engine).add(replace(CALL, purpose="write filters", outcome="cut"))
        told = asked(client)
        with engine.begin() as connection:
            connection.execute(sa.delete(CallRow))
        assert asked(client) == told
    with running(tmp_path) as server, server.client() as client:
        assert asked(client) == told
    engine.dispose()
    assert told["firstfault_model_calls_total", "cut", "write filters"] == 1
    assert told["firstfault_model_calls_total", "answered", "write a signal"] == 1
    assert told["firstfault_model_tokens_total", "asked", "write filters"] == 2000
    assert told["firstfault_model_tokens_total", "answered", "write filters"] == 100
    assert told["firstfault_model_cost_total", "write filters"] == 0.5
    assert told["firstfault_model_seconds_total", "name the cause, reclassifying"] == 1.5


def test_metrics_keep_to_the_names_that_prometheus_expects(client):
    families = list(text_string_to_metric_families(client.get("/metrics").text))
    assert len(families) > 30
    for family in families:
        assert family.name.startswith("firstfault_")
        assert family.documentation
        told = family.name.split("_")
        assert not {"ms", "milliseconds", "minutes", "kb", "mb", "percent"} & set(told)
        assert "seconds" not in told[:-1] or family.type == "gauge"


def test_nothing_that_a_caller_can_choose_is_a_label(client):
    told = {name: "zebra17" for name in ("job_id", "job_type", "cluster", "name", "user")}
    client.post("/v1/diagnoses?wait=60", content=b"cause KeyError", params=told)
    client.get("/v1/jobs/zebra17/zebra17")
    client.get("/v1/zebra17", headers={"x-request-id": "zebra17"})
    assert "zebra17" not in client.get("/metrics").text


def test_paths_that_nobody_serves_make_no_new_series(client):
    for number in range(5):
        client.get(f"/scan/{number}.php")
    routes = [name for name in figures(client) if name[0].endswith("request_seconds_count")]
    assert all("scan" not in part for name in routes for part in name)


def test_a_disk_that_is_nearly_full_is_not_ready_and_takes_no_log(tmp_path):
    with running(tmp_path, min_free_bytes="4000TiB") as server, server.client() as client:
        found = client.get("/readyz")
        assert found.status_code == 503
        assert "FIRSTFAULT_MIN_FREE_BYTES" in found.json()["disk"]
        refused = client.post("/v1/diagnoses", content=b"a line")
        assert refused.status_code == 503
        assert refused.headers["retry-after"]
        assert client.get("/healthz").status_code == 200
