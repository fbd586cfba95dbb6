"""Commands for Slurm and Kubernetes, ready to be pasted; they are shown and never run.

Names of nodes come from logs, which anybody may write. Only what can be the name of one node gets
into a command, and everything is quoted.
"""

import re
import shlex
from collections.abc import Sequence

from app.model import Action, Job

_NODE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
# `nodename=ALL` drains a whole cluster
_NO_NODES = ("all", "default", "localhost", "none", "null", "unknown", "0.0.0.0")
_RUNS_AGAIN = ("restart", "cordon_and_restart", "wait_and_retry", "resubmit")


def is_node(name: str) -> bool:
    """Say whether a text can be the name of one node, and no option, list, range or command."""
    known = name.lower()
    return (
        _NODE.fullmatch(name) is not None
        and known not in _NO_NODES
        and not known.startswith(("127.", "localhost."))
    )


def commands(action: Action, targets: Sequence[str], reason: str, job: Job) -> tuple[str, ...]:
    """Spell out an action for the job's scheduler, or for both where it is not known."""
    kind = (job.scheduler or "").lower()
    nodes = [name for name in targets if is_node(name)]
    found: list[str] = []
    if kind in ("", "slurm"):
        found += _slurm(action, nodes, reason, job.job_id)
    if kind in ("", "kubernetes", "k8s"):
        found += [f"kubectl cordon {shlex.quote(node)}" for node in nodes]
    return tuple(found)


def _slurm(action: Action, nodes: Sequence[str], reason: str, job_id: str | None) -> list[str]:
    why = shlex.quote(f"firstfault: {reason}")
    found = [
        f"scontrol update nodename={shlex.quote(node)} state=drain reason={why}" for node in nodes
    ]
    if not job_id or job_id.startswith("-") or action not in _RUNS_AGAIN:
        return found
    job = shlex.quote(job_id)
    if not nodes:
        return [*found, f"scontrol requeue {job}"]
    excluded = shlex.quote(",".join(nodes))
    return [  # nodes can be excluded only while the job waits
        *found,
        f"scontrol requeuehold {job}",
        f"scontrol update jobid={job} excnodelist={excluded}",
        f"scontrol release {job}",
    ]
