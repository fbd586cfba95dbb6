"""What the scheduler says of the job, as findings beside those of the log.

Slurm's states are listed in `man sacct` (JOB STATE CODES), which cuts them to ten characters and
`squeue` to two; Kubernetes reasons in the API's `ContainerStateTerminated` and pod conditions. A
cancelled job is a clue, since it says not why; a time limit, preemption, a lost node and a memory
limit speak for themselves.
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
_SHORT = {
    "TO": "TIMEOUT",
    "DL": "DEADLINE",
    "PR": "PREEMPTED",
    "NF": "NODE_FAIL",
    "BF": "BOOT_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "CA": "CANCELLED",
    "RV": "REVOKED",
}
SCHEDULER = -1  # the file index of what no log file says


def reported(job: Job) -> tuple[Finding, ...]:
    """Turn the scheduler's state into a finding, where it names a cause."""
    state = " ".join((job.state or "").split())
    name = _spelled_out(state.partition(" ")[0].upper())
    if name not in _STATES:
        return ()
    cause, strength = _STATES[name]
    raw = f"the scheduler reports state {state}"
    line = Line(file=SCHEDULER, number=0, raw=raw, text=raw)
    signal = f"state_{name.lower()}"
    return (Finding(cause, signal, strength, (Sighting(signal, line, strength),), 1, summary=raw),)


def _spelled_out(word: str) -> str:
    """Read `OUT_OF_ME+`, `OOM` and `OUT_OF_MEMORY` as one state."""
    start = word.rstrip("+")
    if start != word and len(start) > 3:
        return next((name for name in _STATES if name.startswith(start)), start)
    return _SHORT.get(word, word)
