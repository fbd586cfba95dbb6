"""What the scheduler says of the job, as findings beside those of the log.

Slurm's states are listed in `man sacct` (JOB STATE CODES); Kubernetes reasons in the API's
`ContainerStateTerminated` and pod conditions. A state names the event and not what led to it, so
it is a clue; only a time limit, preemption and a lost node speak for themselves.
"""

from app.model import Finding, Job, Line, Sighting, Strength

_STATES: dict[str, tuple[str, Strength]] = {
    "TIMEOUT": ("TimeLimitExceeded", "proof"),
    "DEADLINE": ("TimeLimitExceeded", "proof"),
    "DEADLINEEXCEEDED": ("TimeLimitExceeded", "proof"),
    "PREEMPTED": ("Preempted", "proof"),
    "PREEMPTING": ("Preempted", "proof"),
    "PREEMPTIONBYSCHEDULER": ("Preempted", "proof"),
    "NODE_FAIL": ("NodeFailure", "proof"),
    "BOOT_FAIL": ("NodeFailure", "proof"),
    "NODELOST": ("NodeFailure", "proof"),
    "OUT_OF_MEMORY": ("HostOutOfMemory", "proof"),
    "OOMKILLED": ("HostOutOfMemory", "proof"),
    "CANCELLED": ("Cancelled", "clue"),
    "REVOKED": ("Cancelled", "clue"),
}
SCHEDULER = -1  # the file index of what no log file says


def reported(job: Job) -> tuple[Finding, ...]:
    """Turn the scheduler's state into a finding, where it names a cause."""
    state = (job.state or "").strip()
    known = _STATES.get(state.split(" ")[0].rstrip("+").upper())
    if known is None:
        return ()
    cause, strength = known
    raw = f"the scheduler reports state {state}"
    line = Line(file=SCHEDULER, number=0, raw=raw, text=raw)
    name = f"state_{state.split(' ')[0].rstrip('+').lower()}"
    return (Finding(cause, name, strength, (Sighting(name, line, strength),), 1, summary=raw),)
