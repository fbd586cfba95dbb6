"""Commands for Slurm and Kubernetes, ready to be pasted; they are shown and never run."""

import shlex
from collections.abc import Sequence

from app.model import Action, Job


def commands(action: Action, targets: Sequence[str], reason: str, job: Job) -> tuple[str, ...]:
    """Spell out an action for the job's scheduler, or for both where it is not known."""
    kind = (job.scheduler or "").lower()
    found: list[str] = []
    if kind != "kubernetes":
        found += _slurm(action, targets, reason, job)
    if kind != "slurm":
        found += _kubernetes(action, targets)
    return tuple(found)


def _slurm(action: Action, targets: Sequence[str], reason: str, job: Job) -> list[str]:
    found = [
        f"scontrol update nodename={shlex.quote(host)} state=drain"
        f" reason={shlex.quote('firstfault: ' + reason)}"
        for host in targets
    ]
    if not job.job_id:
        return found
    job_id = shlex.quote(job.job_id)
    if targets:
        found.append(f"scontrol update jobid={job_id} ExcNodeList={shlex.quote(','.join(targets))}")
    if action in ("restart", "cordon_and_restart", "wait_and_retry", "resubmit"):
        found.append(f"scontrol requeue {job_id}")
    return found


def _kubernetes(action: Action, targets: Sequence[str]) -> list[str]:
    return [f"kubectl cordon {shlex.quote(host)}" for host in targets]
