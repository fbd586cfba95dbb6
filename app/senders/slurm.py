"""Report the end of a Slurm job, from `JobCompLoc` (jobcomp/script) or `EpilogSlurmctld`.

Neither hook is told all. That of job completion knows the state and not how often the job was
requeued; the epilog the reverse, and while it runs the job has no final state yet. What is missing
is asked of `scontrol`, in a process of its own, so that slurmctld never waits: before that the
facts are in the spool folder.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import quote

from app.senders.outbox import Outbox, new_id, written
from app.senders.record import NO_TASK, Record, gpus, records, spelled_out

Facts = dict[str, str]
KEYS = ("cluster", "partitions", "slurm_conf", "bin_dir")
_JOBCOMP = {
    "JOBID": "id", "ARRAYJOBID": "array", "ARRAYTASKID": "task", "HETJOBID": "het",
    "HETJOBOFFSET": "het_offset", "JOBSTATE": "state", "EXITCODE": "exit", "START": "start",
    "END": "end", "NODES": "nodes", "JOBNAME": "name", "USERNAME": "user",
    "PARTITION": "partition", "CLUSTER": "cluster", "STDOUT": "stdout", "STDERR": "stderr",
    "WORK_DIR": "work_dir",
}  # fmt: skip
_EPILOG = {
    "SLURM_JOB_ID": "id", "SLURM_ARRAY_JOB_ID": "array", "SLURM_ARRAY_TASK_ID": "task",
    "SLURM_HET_JOB_ID": "het", "SLURM_HET_JOB_OFFSET": "het_offset",
    "SLURM_JOB_EXIT_CODE2": "exit", "SLURM_JOB_NODELIST": "nodes", "SLURM_JOB_NAME": "name",
    "SLURM_JOB_USER": "user", "SLURM_JOB_PARTITION": "partition", "SLURM_CLUSTER_NAME": "cluster",
    "SLURM_JOB_STDOUT": "stdout", "SLURM_JOB_STDERR": "stderr", "SLURM_JOB_WORK_DIR": "work_dir",
    "SLURM_JOB_RESTART_COUNT": "restarts",
}  # fmt: skip
_ENDED = frozenset((
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
    "PREEMPTED", "TIMEOUT",
))  # fmt: skip
_ENDING_SECONDS = 60.0  # a node that is gone keeps its job COMPLETING for long
_ABANDONED_SECONDS = 900.0  # nobody completes a note for longer than it takes to give up


@dataclass(frozen=True)
class Slurm:
    """What the hook does at one site."""

    outbox: Outbox
    spool: Path
    cluster: str = ""
    partitions: tuple[str, ...] = ()
    slurm_conf: str = ""
    bin_dir: str = ""

    def note(self, environment: Mapping[str, str]) -> str | None:
        """Keep what the hook was told; give the id, or none for a job that has no log of its own.

        That is one that never ran, the lesser part of a heterogeneous job, and one of a partition
        that is not asked for.
        """
        table = _JOBCOMP if "JOBID" in environment else _EPILOG
        facts = {name: environment.get(variable, "") for variable, name in table.items()}
        facts = {name: value for name, value in facts.items() if value not in ("", "(null)")}
        if facts.get("array") == "0":
            del facts["array"]
        of_no_use = "id" not in facts or "nodes" not in facts or facts.get("het_offset", "0") != "0"
        asked = self.partitions or ("*",)
        if of_no_use or not any(fnmatch(facts.get("partition", ""), one) for one in asked):
            return None
        id = new_id()
        self._notes.mkdir(mode=0o700, parents=True, exist_ok=True)
        written(self._notes / f"{id}.json", json.dumps(facts))
        return id

    def complete(self, id: str) -> None:
        """Make a report of a note."""
        note = self._notes / f"{id}.json"
        facts = json.loads(note.read_text())
        if data := self._data(facts):
            self.outbox.put(data, id)
        note.unlink(missing_ok=True)

    def adopt(self) -> None:
        """Complete the notes of hooks that were ended with their machine or their slurmctld."""
        for note in sorted(self._notes.glob("*.json")):
            if time.time() - note.stat().st_mtime > _ABANDONED_SECONDS:
                self.complete(note.stem)

    @property
    def _notes(self) -> Path:
        return self.spool / "noted"

    def _data(self, facts: Facts) -> dict[str, object] | None:
        found = self._records(facts)
        first = found[0] if found else {}
        state, is_requeued = _state(facts, found)
        facts = {**_fallbacks(first, is_requeued), **facts}
        nodes = self._hostnames(found, facts["nodes"])
        facts["first_node"] = nodes[0] if nodes else ""
        asked = _asked(first.get("Comment", ""))
        logs = _logs(facts, first, asked)
        if not logs:
            return None
        code, _, signal = facts.get("exit", "").partition(":")
        restarts = facts.get("restarts", "")
        data: dict[str, object] = {
            "scheduler": "slurm",
            "cluster": self.cluster or facts.get("cluster"),
            "job_id": _job_id(facts),
            "attempt": max(int(restarts) - is_requeued, 0) if restarts.isdigit() else None,
            "name": _plain(facts.get("name", "")),
            "user": _plain(facts.get("user", "")),
            "job_type": _plain(asked.get("job_type", [""])[-1]),
            "state": state,
            "exit_code": int(code) if code.isdigit() and not int(signal or 0) else None,
            "signal": int(signal or 0) or None,
            "nodes": nodes,
            "gpus": sum(gpus(record, len(nodes)) for record in found) or None,
            "started_at": _time(facts.get("start", "")),
            "ended_at": _time(facts.get("end", "")),
            "log_uris": [f"file://{quote(os.fsencode(log))}" for log in logs],
            "checkpoint_dir": _plain(asked.get("checkpoint_dir", [""])[-1], 4096),
        }
        return {key: value for key, value in data.items() if value not in (None, "", [])}

    def _records(self, facts: Facts) -> Sequence[Record]:
        """Ask for the job's record; wait for its end only where the hook was not told of it."""
        must_end = "state" not in facts or "het" in facts
        end = time.monotonic() + _ENDING_SECONDS
        while True:
            found = records(self._run("scontrol", "show", "job", _job_id(facts)))
            ending = any("COMPLETING" in record.get("JobState", "") for record in found)
            if not (must_end and ending) or time.monotonic() > end:
                return found
            time.sleep(0.5)

    def _hostnames(self, found: Sequence[Record], nodes: str) -> list[str]:
        lists = [record["NodeList"] for record in found if "NodeList" in record]
        every = dict.fromkeys([nodes, *(lists if len(found) > 1 else ())])
        told = self._run("scontrol", "show", "hostnames", ",".join(every))
        return list(dict.fromkeys(told.split()))

    def _run(self, name: str, *arguments: str) -> str:
        command = [str(Path(self.bin_dir, name)) if self.bin_dir else name, *arguments]
        environment = {**os.environ, "SLURM_TIME_FORMAT": "%s", "LC_ALL": "C.UTF-8"}
        if self.slurm_conf:
            environment["SLURM_CONF"] = self.slurm_conf
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, timeout=30, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            print(f"firstfault-sender: {shlex.join(command)}: {error}", flush=True)
            return ""
        if done.returncode:
            why = done.stderr.decode(errors="replace").strip()
            print(f"firstfault-sender: {shlex.join(command)}: {why}", flush=True)
        return os.fsdecode(done.stdout)


def _fallbacks(record: Record, is_requeued: bool) -> Facts:
    names = {"Restarts": "restarts", "WorkDir": "work_dir", "JobName": "name"}
    if not is_requeued:
        names |= {"StartTime": "start", "EndTime": "end"}
    return {name: record[key] for key, name in names.items() if key in record}


def _state(facts: Facts, found: Sequence[Record]) -> tuple[str, bool]:
    """Give the state the job ended in, and whether Slurm has put it back in the queue since.

    A requeued job's record is that of the next run already: its end is unknown, or another one.
    """
    states = [record.get("JobState", "") for record in found]
    if "state" in facts:
        state = facts["state"]
        is_requeued = bool(found) and (
            found[0].get("EndTime") != facts.get("end") or states[0] in _ENDED - {state}
        )
    else:
        state = states[0] if states else "UNKNOWN"
        is_requeued = state not in _ENDED and "COMPLETING" not in state and bool(found)
    if is_requeued and state not in _ENDED:
        return "REQUEUED", True
    failed = [other for other in states if other in _ENDED - {"COMPLETED"}]
    return (failed[0] if state == "COMPLETED" and failed else state), is_requeued


def _job_id(facts: Facts) -> str:
    if facts.get("task", NO_TASK) != NO_TASK and "array" in facts:
        return f"{facts['array']}_{facts['task']}"
    return facts["id"]


def _asked(comment: str) -> dict[str, list[str]]:
    """Read `sbatch --comment="firstfault job_type=pretrain-7b log=/logs/%j"`."""
    try:
        word, *pairs = shlex.split(comment) or [""]
    except ValueError:  # an open quote
        return {}
    found: dict[str, list[str]] = {}
    for key, _, value in (pair.partition("=") for pair in pairs if word == "firstfault"):
        found.setdefault(key, []).append(value)
    return found


def _logs(facts: Facts, record: Record, asked: Mapping[str, Sequence[str]]) -> list[str]:
    told = [
        record.get("StdOut") or facts.get("stdout", ""),
        record.get("StdErr") or facts.get("stderr", ""),
        *asked.get("log", ()),
    ]
    paths = [spelled_out(path, facts) for path in told if path]
    return [path for path in dict.fromkeys(paths) if not path.startswith("/dev/")]


def _plain(text: str, most: int = 256) -> str:
    return text.encode("utf-8", "replace").decode()[:most]


def _time(epoch: str) -> str | None:
    if not epoch.isdigit() or not int(epoch):
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch)))
