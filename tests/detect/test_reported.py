"""What the scheduler's state says, in the spellings that schedulers and their tools use."""

import pytest

from app.detect.reported import SCHEDULER, reported
from app.model import Job


@pytest.mark.parametrize(
    ("state", "cause", "strength"),
    [
        ("TIMEOUT", "TimeLimitExceeded", "proof"),
        ("timeout", "TimeLimitExceeded", "proof"),
        ("TO", "TimeLimitExceeded", "proof"),
        ("DeadlineExceeded", "TimeLimitExceeded", "proof"),
        ("PREEMPTED", "Preempted", "proof"),
        ("PREEMPTED by 4712", "Preempted", "proof"),
        ("PreemptionByScheduler", "Preempted", "proof"),
        ("NODE_FAIL", "NodeFailure", "proof"),
        ("NF", "NodeFailure", "proof"),
        ("DeletionByTaintManager", "NodeFailure", "clue"),
        ("EvictionByEvictionAPI", "Preempted", "clue"),
        ("OUT_OF_MEMORY", "HostOutOfMemory", "proof"),
        ("OUT_OF_ME+", "HostOutOfMemory", "proof"),
        ("OOM", "HostOutOfMemory", "proof"),
        ("OOMKilled", "HostOutOfMemory", "proof"),
        ("CANCELLED", "Cancelled", "clue"),
        ("CANCELLED+", "Cancelled", "clue"),
        ("  CANCELLED  by 1000 ", "Cancelled", "clue"),
        ("CA", "Cancelled", "clue"),
    ],
)
def test_a_state_that_names_a_cause_is_a_finding(state: str, cause: str, strength: str) -> None:
    (finding,) = reported(Job(state=state))
    assert (finding.cause, finding.strength, finding.count) == (cause, strength, 1)
    assert finding.summary == f"the scheduler reports state {' '.join(state.split())}"
    assert (finding.first.file, finding.first.number) == (SCHEDULER, 0)


def test_one_state_is_one_signal_however_it_is_spelled() -> None:
    names = {reported(Job(state=s))[0].signal for s in ("OOM", "OUT_OF_ME+", "OUT_OF_MEMORY")}
    assert names == {"state_out_of_memory"}


@pytest.mark.parametrize(
    "state", [None, "", " ", "COMPLETED", "FAILED", "RUNNING", "Succeeded", "+", "O+", "T", "???"]
)
def test_a_state_that_says_no_more_than_how_it_ended_is_no_finding(state: str | None) -> None:
    assert reported(Job(state=state)) == ()


@pytest.mark.parametrize(
    ("job", "signal"),
    [
        (Job(state="FAILED", exit_code=139), "ended_by_sigsegv"),
        (Job(state="FAILED", exit_code=0, signal=11), "ended_by_sigsegv"),
        (Job(exit_code=134), "ended_by_sigabrt"),
        (Job(state="Failed", exit_code=135), "ended_by_sigbus"),
    ],
)
def test_a_crash_is_an_echo_that_whatever_the_log_names_goes_before(job: Job, signal: str) -> None:
    (finding,) = reported(job)
    assert (finding.cause, finding.strength, finding.signal) == ("NativeCrash", "echo", signal)


@pytest.mark.parametrize(
    "job", [Job(signal=9), Job(exit_code=137), Job(exit_code=143), Job(exit_code=1)]
)
def test_a_kill_says_not_why(job: Job) -> None:
    assert reported(job) == ()


def test_a_state_that_names_a_cause_goes_before_the_signal_that_it_sent() -> None:
    (finding,) = reported(Job(state="NODE_FAIL", signal=11))
    assert finding.cause == "NodeFailure"


def test_the_only_node_of_a_job_is_the_one_that_was_lost() -> None:
    (alone,) = reported(Job(state="NODE_FAIL", nodes=("n7",)))
    (one_of_two,) = reported(Job(state="NODE_FAIL", nodes=("n7", "n8")))
    assert (alone.first.host, one_of_two.first.host) == ("n7", None)
