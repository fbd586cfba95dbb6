from prometheus_client.parser import text_string_to_metric_families

from tests.api.server import running


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
    client.post("/v1/diagnoses?wait=20", content=b"cause NameError")
    client.post("/v1/diagnoses?wait=20", content=b"refuse")
    after = figures(client)

    def more(*name):
        return after[name] - before.get(name, 0)

    assert more("firstfault_diagnoses_complete_total", "NameError") == 1
    assert more("firstfault_diagnoses_failed_total", "SourceError") == 1
    assert more("firstfault_uploaded_bytes_total") == len(b"cause NameError" + b"refuse")
    route = ("/v1/diagnoses", "200", "POST")
    assert more("firstfault_http_request_seconds_count", *route) == 2
    assert after[("firstfault_queued",)] == 0


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
