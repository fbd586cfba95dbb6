"""Report the end of Kubernetes Jobs, with the logs of their pods.

The API keeps the log of a pod only as long as the pod, so the logs are fetched into a folder that
the service reads too: the example (kubernetes.yaml) runs both in one pod. Jobs are listed every few
seconds; that needs no more rights than a watch, and misses nothing over a restart.
"""

from __future__ import annotations

import http.client
import json
import shutil
import ssl
import time
import traceback
import urllib.error
import urllib.request
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from app.senders.outbox import Outbox, new_id

KEYS = (
    "cluster", "namespaces", "selector", "logs_dir", "keep_days", "api", "every_seconds",
    "account_dir",
)  # fmt: skip
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_OURS = "firstfault.io/"  # annotations job-type and checkpoint-dir of a Job
_GPUS = ("nvidia.com/gpu", "amd.com/gpu", "huawei.com/Ascend910")
_PAGE = 250
_TIMEOUT_SECONDS = 60.0

Thing = Mapping[str, Any]  # an object of the API, as JSON has it


@dataclass(frozen=True)
class Watcher:
    """Looks after the Jobs of some namespaces; of all where none is named."""

    outbox: Outbox
    logs: Path
    cluster: str = ""
    namespaces: tuple[str, ...] = ()
    selector: str = ""
    api: str = "https://kubernetes.default.svc"
    account: Path = Path(_ACCOUNT)
    every_seconds: float = 15
    keep_days: float = 30

    @classmethod
    def configured(cls, told: Mapping[str, str], outbox: Outbox) -> Watcher:
        """Make one of the keys of a configuration."""
        return cls(
            outbox=outbox,
            logs=Path(told.get("logs_dir", "/var/log/firstfault")),
            cluster=told.get("cluster", cls.cluster),
            namespaces=tuple(told.get("namespaces", "").split()),
            selector=told.get("selector", cls.selector),
            api=told.get("api", cls.api).rstrip("/"),
            account=Path(told.get("account_dir", _ACCOUNT)),
            every_seconds=float(told.get("every_seconds", cls.every_seconds)),
            keep_days=float(told.get("keep_days", cls.keep_days)),
        )

    def watch(self) -> None:
        """Look again and again; an API that does not answer is asked again."""
        while True:
            try:
                self.look()
                self.outbox.drain(0)
            except (OSError, ValueError, http.client.HTTPException) as error:
                print(f"firstfault-sender: {self.api}: {error}", flush=True)
            except Exception:  # noqa: BLE001  nobody else looks, so it must go on
                print(f"firstfault-sender: {traceback.format_exc()}", flush=True)
            time.sleep(self.every_seconds)

    def look(self) -> None:
        """Report each Job that has ended and was not reported before; clear old logs away."""
        listed = set()
        for place in [f"/namespaces/{quote(name)}" for name in self.namespaces] or [""]:
            jobs = self._list(f"/apis/batch/v1{place}/jobs", labelSelector=self.selector)
            for job in jobs:
                listed.add(self._folder(job))
                end = _end(job)
                if end and not (self._folder(job) / ".reported").exists():
                    self._report_if_meant(job, end)
        self._clear(listed)

    def _report_if_meant(self, job: Thing, end: Thing) -> None:
        """Report a Job; one that has not the form of a Job holds up no other."""
        try:
            self._report(job, end)
        except (AttributeError, LookupError, TypeError, ValueError):
            name = job["metadata"]["name"]
            print(f"firstfault-sender: Job {name}: {traceback.format_exc()}", flush=True)

    def _clear(self, listed: Collection[Path]) -> None:
        """Remove the logs of Jobs that were reported long ago and that the API has forgotten."""
        oldest = time.time() - self.keep_days * 86_400
        for mark in self.logs.glob("*/*/.reported"):
            if mark.parent not in listed and mark.stat().st_mtime < oldest:
                shutil.rmtree(mark.parent)

    def _report(self, job: Thing, end: Thing) -> None:
        meta, folder = job["metadata"], self._folder(job)
        controlled = f"/api/v1/namespaces/{quote(meta['namespace'])}/pods"
        pods = list(self._list(controlled, labelSelector=f"controller-uid={meta['uid']}"))
        folder.mkdir(parents=True, exist_ok=True)
        logs = [log for pod in pods for log in self._logs(pod, folder)]
        if logs:
            data = {**_told(job, pods, end), "log_uris": [log.absolute().as_uri() for log in logs]}
            if self.cluster:
                data["cluster"] = self.cluster
            self.outbox.put(data, new_id())
        (folder / ".reported").touch()

    def _folder(self, job: Thing) -> Path:
        meta = job["metadata"]
        return Path(self.logs, meta["namespace"], f"{meta['name']}-{meta['uid']}")

    def _logs(self, pod: Thing, folder: Path) -> Iterator[Path]:
        """Fetch what the containers of a pod printed; those before a restart go first."""
        name, path = pod["metadata"]["name"], pod["metadata"]["namespace"]
        for status in pod.get("status", {}).get("containerStatuses", ()):
            for previous in ("true", "") if status.get("restartCount") else ("",):
                log = folder / f"{name}.{status['name']}{'.previous' if previous else ''}.log"
                query = urlencode({"container": status["name"], "previous": previous or "false"})
                url = f"/api/v1/namespaces/{quote(path)}/pods/{quote(name)}/log?{query}"
                try:
                    with self._get(url) as answer, log.open("wb") as opened:
                        shutil.copyfileobj(answer, opened)
                except urllib.error.HTTPError as error:  # its node is gone, or it never ran
                    print(f"firstfault-sender: {url}: {error}", flush=True)
                    continue
                yield log

    def _list(self, path: str, **query: str) -> Iterator[Thing]:
        more = ""
        while True:
            asked = {**query, "limit": str(_PAGE), "continue": more}
            told = urlencode({key: value for key, value in asked.items() if value})
            with self._get(f"{path}?{told}") as answer:
                page = json.load(answer)
            yield from page.get("items", ())
            more = page.get("metadata", {}).get("continue", "")
            if not more:
                return

    def _get(self, path: str) -> http.client.HTTPResponse:
        """Ask the API; the token is read each time, since the kubelet renews it."""
        token, authority = self.account / "token", self.account / "ca.crt"
        headers = {"Authorization": f"Bearer {token.read_text().strip()}"} if token.exists() else {}
        trusted = ssl.create_default_context(cafile=str(authority) if authority.exists() else None)
        request = urllib.request.Request(self.api + path, headers=headers)
        answer: http.client.HTTPResponse = urllib.request.urlopen(
            request, timeout=_TIMEOUT_SECONDS, context=trusted
        )
        return answer


def _end(job: Thing) -> Thing | None:
    """Give the condition that ended a Job, if it has ended."""
    conditions = job.get("status", {}).get("conditions", ())
    ended = (c for c in conditions if c["type"] in ("Complete", "Failed") and c["status"] == "True")
    return next(ended, None)


def _told(job: Thing, pods: Iterable[Thing], end: Thing) -> dict[str, object]:
    """Say what the API knows of a Job."""
    pods = list(pods)
    meta, status = job["metadata"], job.get("status", {})
    notes = meta.get("annotations", {})
    first = _first_to_fail(pods)
    nodes = dict.fromkeys(pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName"))
    data: dict[str, object] = {
        "scheduler": "kubernetes",
        "job_id": meta["uid"],
        "name": f"{meta['namespace']}/{meta['name']}",
        "job_type": notes.get(f"{_OURS}job-type", ""),
        "checkpoint_dir": notes.get(f"{_OURS}checkpoint-dir", ""),
        "state": _state(end, pods, first),
        "exit_code": first.get("exitCode", 0 if end["type"] == "Complete" else None),
        "signal": first.get("signal"),
        "nodes": list(nodes),
        "gpus": sum(map(_gpus, pods)),
        "started_at": status.get("startTime"),
        "ended_at": end.get("lastTransitionTime"),
    }
    return {key: value for key, value in data.items() if value not in (None, "", [])}


def _first_to_fail(pods: Iterable[Thing]) -> Thing:
    """Give the end of the container that failed first; the rest may be its wreckage."""
    ended = [
        state
        for pod in pods
        for container in pod.get("status", {}).get("containerStatuses", ())
        for key in ("lastState", "state")
        if (state := container.get(key, {}).get("terminated")) and state.get("exitCode")
    ]
    return min(ended, key=lambda state: state.get("finishedAt") or "~", default={})


def _state(end: Thing, pods: Iterable[Thing], first: Thing) -> str:
    """Name the end as Kubernetes does, by its most telling reason."""
    if end["type"] == "Complete":
        return "Succeeded"
    if end.get("reason") == "DeadlineExceeded":
        return "DeadlineExceeded"
    for pod in pods:
        status = pod.get("status", {})
        moved = [c for c in status.get("conditions", ()) if c["type"] == "DisruptionTarget"]
        told = [c["reason"] for c in moved if c["status"] == "True" and c.get("reason")]
        if told or status.get("reason") in ("NodeLost", "Evicted", "Preempting", "Shutdown"):
            return str(told[0] if told else status["reason"])
    return "OOMKilled" if first.get("reason") == "OOMKilled" else "Failed"


def _gpus(pod: Thing) -> int:
    limits = [c.get("resources", {}).get("limits", {}) for c in pod["spec"]["containers"]]
    return sum(int(limit.get(kind, 0)) for limit in limits for kind in _GPUS)
