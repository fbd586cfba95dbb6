"""What the scheduler says of the job, as findings beside those of the log.

Slurm's states are listed in `man sacct` (JOB STATE CODES), which cuts them to ten characters and
`squeue` to two; Kubernetes reasons in the API's `ContainerStateTerminated` and pod conditions. A
cancelled job is a clue, since it says not why, and so is a pod that was moved; a time limit,
preemption, a lost node and a memory limit speak for themselves. The signal that ended the job says
no more than that native code crashed: what the log names goes before it.
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
    "DELETIONBYTAINTMANAGER": ("NodeFailure", "clue"),
    "DELETIONBYPODGC": ("NodeFailure", "clue"),
    "SHUTDOWN": ("NodeFailure", "clue"),
    "EVICTIONBYEVICTIONAPI": ("Preempted", "clue"),
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
# `man 7 signal`; Python is ended by none of them, but by what it calls
_CRASHES = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"}
_FROM_A_SIGNAL = 128  # what shells add to the number of the signal that ended a program
SCHEDULER = -1  # the file index of what no log file says


def reported(job: Job) -> tuple[Finding, ...]:
    """Turn the scheduler's state, or else the job's last signal, into a finding that it names."""
    state = " ".join((job.state or "").split())
    name = _spelled_out(state.partition(" ")[0].upper())
    if name in _STATES:
        cause, strength = _STATES[name]
        # a job of one node can have lost no other
        host = job.nodes[0] if cause == "NodeFailure" and len(job.nodes) == 1 else None
        return (_finding(cause, strength, f"state_{name.lower()}", f"state {state}", host),)
    last = job.signal or (job.exit_code or 0) - _FROM_A_SIGNAL
    if last in _CRASHES:
        crash = _CRASHES[last]
        return (
            _finding("NativeCrash", "echo", f"ended_by_{crash.lower()}", f"the end by {crash}"),
        )
    return ()


def _finding(
    cause: str, strength: Strength, signal: str, told: str, host: str | None = None
) -> Finding:
    raw = f"the scheduler reports {told}"
    line = Line(file=SCHEDULER, number=0, raw=raw, text=raw, host=host)
    return Finding(cause, signal, strength, (Sighting(signal, line, strength),), 1, summary=raw)


def _spelled_out(word: str) -> str:
    """Read `OUT_OF_ME+`, `OOM` and `OUT_OF_MEMORY` as one state."""
    start = word.rstrip("+")
    if start != word and len(start) > 3:
        return next((name for name in _STATES if name.startswith(start)), start)
    return _SHORT.get(word, word)
