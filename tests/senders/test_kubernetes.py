"""Jobs that ended are reported once, with the logs of their pods; the API is played."""

import http.server
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from app.senders import config
from app.senders.kubernetes import KEYS, Watcher
from app.senders.outbox import Outbox

MANIFESTS = Path(__file__).parents[2] / "app" / "senders" / "kubernetes.yaml"
MOVED = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
END = "2026-11-30T09:19:46Z"


def job(name: str, *conditions: dict, **annotations: str) -> dict:
    return {
        "metadata": {
            "name": name, "namespace": "train", "uid": f"uid-{name}",
            "annotations": {f"firstfault.io/{key}": told for key, told in annotations.items()},
        },
        "status": {"startTime": "2026-11-30T09:00:00Z", "conditions": list(conditions)},
    }  # fmt: skip


def ended(kind: str = "Failed", reason: str = "BackoffLimitExceeded") -> dict:
    return {"type": kind, "status": "True", "reason": reason, "lastTransitionTime": END}


def pod(name: str, node: str, ended: dict | None, **status: object) -> dict:
    container = {"name": "trainer", "restartCount": 0, "state": {"terminated": ended or {}}}
    return {
        "metadata": {"name": name, "namespace": "train"},
        "spec": {
            "nodeName": node,
            "containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}],
        },
        "status": {"containerStatuses": [container], **status},
    }


class Api(http.server.ThreadingHTTPServer):
    """Lists what it is given, one object a page; refuses those without the token."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.jobs: list[dict] = []
        self.pods: dict[str, list[dict]] = {}
        self.logs: dict[str, str] = {}

    def answer(self, path: str, query: dict[str, str]) -> bytes | None:
        if path.endswith("/log"):
            pod = path.split("/")[-2]
            key = f"{pod} previous" if query["previous"] == "true" else pod
            return self.logs[key].encode() if key in self.logs else None
        if path.endswith("/jobs"):
            found = self.jobs
        else:
            found = self.pods.get(query["labelSelector"].removeprefix("controller-uid="), [])
        at = int(query.get("continue", 0))
        more = str(at + 1) if at + 1 < len(found) else ""
        return json.dumps({"items": found[at : at + 1], "metadata": {"continue": more}}).encode()


class _Answering(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(asked.query).items()}
        is_known = self.headers["authorization"] == "Bearer t0ken"
        answer = self.server.answer(asked.path, query) if is_known else None
        self.send_response(200 if answer is not None else 404 if is_known else 401)
        self.end_headers()
        self.wfile.write(answer or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def api() -> Iterator[Api]:
    with Api() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def watcher(tmp_path, api, service) -> Watcher:
    (tmp_path / "token").write_text("t0ken\n")
    told = {
        "api": f"http://127.0.0.1:{api.server_port}/", "account_dir": str(tmp_path),
        "logs_dir": str(tmp_path / "logs"), "cluster": "k1",
    }  # fmt: skip
    return Watcher.configured(told, Outbox(service))


def reports(watcher: Watcher, receiver) -> list[dict]:
    receiver.got.clear()
    watcher.look()
    watcher.outbox.drain(0)
    return [json.loads(body)["data"] for _, body in receiver.got]


def test_a_job_that_failed_is_reported_once_with_the_logs_of_its_pods(watcher, api, receiver):
    failed = {"exitCode": 1, "reason": "Error", "finishedAt": "2026-11-30T09:19:40Z"}
    wreckage = {"exitCode": 134, "reason": "Error", "finishedAt": "2026-11-30T09:19:44Z"}
    api.jobs = [
        job("runs"),
        job("a", ended(), **{"job-type": "pretrain", "checkpoint-dir": "/ckpt"}),
        job("waits", {"type": "Suspended", "status": "True"}),
    ]
    api.pods["uid-a"] = [pod("a-0", "n1", wreckage), pod("a-1", "n2", failed)]
    api.logs = {"a-0": "peers are gone\n", "a-1": "KeyError: 'lr'\n"}
    (told,) = reports(watcher, receiver)
    logs = [Path(urlsplit(uri).path) for uri in told.pop("log_uris")]
    assert [log.read_text() for log in logs] == ["peers are gone\n", "KeyError: 'lr'\n"]
    assert [log.name for log in logs] == ["a-0.trainer.log", "a-1.trainer.log"]
    assert told == {
        "scheduler": "kubernetes", "cluster": "k1", "job_id": "uid-a", "name": "train/a",
        "job_type": "pretrain", "checkpoint_dir": "/ckpt", "state": "Failed", "exit_code": 1,
        "nodes": ["n1", "n2"], "gpus": 16, "started_at": "2026-11-30T09:00:00Z", "ended_at": END,
    }  # fmt: skip
    assert reports(watcher, receiver) == []


@pytest.mark.parametrize(
    ("condition", "status", "end", "state"),
    [
        (ended("Complete", ""), {}, {"exitCode": 0}, "Succeeded"),
        (ended(reason="DeadlineExceeded"), {}, {"exitCode": 137}, "DeadlineExceeded"),
        (ended(), {}, {"exitCode": 137, "reason": "OOMKilled"}, "OOMKilled"),
        (ended(), {"reason": "NodeLost"}, {"exitCode": 137}, "NodeLost"),
        (ended(), {"conditions": [MOVED]}, {"exitCode": 143}, "PreemptionByScheduler"),
    ],
)
def test_the_most_telling_reason_is_the_state(
    watcher, api, receiver, condition, status, end, state
):
    api.jobs, api.logs = [job("a", condition)], {"a-0": "step 1\n"}
    api.pods["uid-a"] = [pod("a-0", "n1", end, **status)]
    (told,) = reports(watcher, receiver)
    assert (told["state"], told["exit_code"]) == (state, end["exitCode"])


def test_the_log_before_a_restart_is_fetched_and_one_that_is_gone_passed_over(
    watcher, api, receiver
):
    api.jobs, api.logs = [job("a", ended())], {"a-0": "second", "a-0 previous": "first"}
    again, gone = pod("a-0", "n1", {"exitCode": 1}), pod("a-1", "n2", {"exitCode": 1})
    again["status"]["containerStatuses"][0]["restartCount"] = 1
    api.pods["uid-a"] = [again, gone]
    (told,) = reports(watcher, receiver)
    assert [Path(uri).name for uri in told["log_uris"]] == [
        "a-0.trainer.previous.log",
        "a-0.trainer.log",
    ]


def test_a_job_that_cannot_be_understood_holds_up_no_other(watcher, api, receiver, capsys):
    api.jobs, api.logs = [job("a", ended()), job("b", ended())], {"a-0": "x\n", "b-0": "y\n"}
    api.pods = {f"uid-{name}": [pod(f"{name}-0", "n1", {"exitCode": 1})] for name in "ab"}
    (container,) = api.pods["uid-a"][0]["spec"]["containers"]
    container["resources"]["limits"]["nvidia.com/gpu"] = "eight"
    (told,) = reports(watcher, receiver)
    assert told["name"] == "train/b"
    assert "Job a: Traceback" in capsys.readouterr().out


def test_the_watch_goes_on_after_what_nobody_foresaw(watcher, monkeypatch, capsys):
    looks = []

    def breaks(_: Watcher) -> None:
        looks.append(1)
        raise ZeroDivisionError if len(looks) < 3 else KeyboardInterrupt

    monkeypatch.setattr(Watcher, "look", breaks)
    monkeypatch.setattr("app.senders.kubernetes.time.sleep", lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        watcher.watch()
    assert capsys.readouterr().out.count("firstfault-sender: Traceback") == 2


def test_old_logs_are_cleared_away_once_the_job_is_gone(watcher, api, receiver):
    api.jobs, api.logs = [job("a", ended()), job("b", ended())], {"x-0": "step 1\n"}
    api.pods = {f"uid-{name}": [pod("x-0", "n1", {"exitCode": 1})] for name in "ab"}
    reports(watcher, receiver)
    api.jobs.pop()
    for mark in watcher.logs.glob("*/*/.reported"):
        os.utime(mark, (time.time() - 31 * 86_400,) * 2)
    assert reports(watcher, receiver) == []
    assert [path.name for path in (watcher.logs / "train").iterdir()] == ["a-uid-a"]


def test_an_api_that_refuses_is_an_error_and_nothing_counts_as_reported(
    watcher, api, receiver, tmp_path
):
    api.jobs, api.logs = [job("a", ended())], {"a-0": "step 1\n"}
    api.pods["uid-a"] = [pod("a-0", "n1", {"exitCode": 1})]
    (tmp_path / "token").write_text("old")
    with pytest.raises(OSError, match="401"):
        watcher.look()
    (tmp_path / "token").write_text("t0ken")
    assert len(reports(watcher, receiver)) == 1


def test_the_manifests_fit_the_watcher(tmp_path):
    made = list(yaml.safe_load_all(MANIFESTS.read_text()))
    kinds = {thing["kind"]: thing for thing in made}
    assert all(thing["apiVersion"] and thing["metadata"]["name"] for thing in made)
    rules = {(r["resources"][0], r["verbs"][0]) for r in kinds["ClusterRole"]["rules"]}
    assert rules == {("jobs", "list"), ("pods", "list"), ("pods/log", "get")}
    (tmp_path / "sender.ini").write_text(kinds["ConfigMap"]["data"]["sender.ini"])
    read = config.read(tmp_path / "sender.ini")
    watcher = read.part("kubernetes", KEYS)
    pod = kinds["Deployment"]["spec"]["template"]["spec"]
    service, watching = pod["containers"]
    roots = {one["name"]: one.get("value") for one in service["env"]}["FIRSTFAULT_LOG_ROOTS"]
    assert watcher["logs_dir"] == roots
    mounts = [one["mountPath"] for one in watching["volumeMounts"]]
    files = (str(read.service.secret_file), str(read.service.spool), watching["command"][4])
    assert all(any(file.startswith(mount) for mount in mounts) for file in files)
