"""What the stored verdicts say of a job or a host: whether to try again, whom to take out.

A retry budget is spent by the same first fault coming again without progress: then a further
restart would do no better, whatever the single verdict says.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine

from app.store.ledger import AttemptKept, BlameKept, HostCount, Ledger
from app.store.threads import StoreThreads

# Different jobs, so that one bad program does not condemn the hosts that it ran on.
FLAGGED_BY_JOBS = 2


@dataclass(frozen=True, slots=True)
class Retry:
    """Whether a job should be tried again, from all its attempts."""

    stop: bool
    same_fault: int
    budget: int
    why: str


@dataclass(frozen=True, slots=True)
class JobHistory:
    """The attempts of a job, the oldest first."""

    attempts: Sequence[AttemptKept]
    retry: Retry


@dataclass(frozen=True, slots=True)
class HostHistory:
    """The diagnoses that suspect a host; `flagged` where different jobs failed by its hardware."""

    blames: Sequence[BlameKept]
    hardware_jobs: int
    flagged: bool


class JobsAndHosts:
    """Asks the ledger; all methods belong to the event loop."""

    def __init__(self, engine: Engine, threads: StoreThreads, retry_budget: int) -> None:
        self._ledger = Ledger(engine)
        self._threads = threads
        self._retry_budget = retry_budget

    async def job(self, cluster: str, job_id: str) -> JobHistory:
        """Tell of all attempts of a job; none where it is not known."""
        attempts = await self._threads.run(self._ledger.attempts, cluster, job_id)
        return JobHistory(attempts, retry_of(attempts, self._retry_budget))

    async def host(self, cluster: str, host: str) -> HostHistory:
        """Tell what is held against a host."""
        blames = await self._threads.run(self._ledger.blames, cluster, host)
        jobs = {each.job_id or each.diagnosis_id for each in blames if each.is_hardware}
        return HostHistory(blames, len(jobs), len(jobs) >= FLAGGED_BY_JOBS)

    async def flagged(self, cluster: str) -> Sequence[HostCount]:
        """List the flagged hosts of one cluster."""
        return await self._threads.run(self._ledger.hosts, cluster, FLAGGED_BY_JOBS)


def retry_of(attempts: Sequence[AttemptKept], budget: int) -> Retry:
    """Weigh the last attempts: the same fault `budget` times without a further step stops."""
    ended = [each for each in attempts if each.status == "complete"]
    if not ended:
        return Retry(False, 0, budget, "no attempt has a verdict yet")
    last = ended[-1]
    same = _in_a_row(ended)
    if last.cause == "Completed":
        return Retry(True, 0, budget, "the job has finished")
    if (last.action or "").startswith("fix_"):
        return Retry(True, same, budget, f"{last.cause} comes again until it is mended")
    if same >= budget:
        why = f"{last.cause} came {same} times in a row without progress: the budget is spent"
        return Retry(True, same, budget, why)
    if not last.restart:
        return Retry(True, same, budget, f"after {last.cause} a person should look first")
    return Retry(False, same, budget, f"{last.cause} came {same} of {budget} times")


def _in_a_row(ended: Sequence[AttemptKept]) -> int:
    """Count the last attempts that fail alike, none of them further than the one before."""
    count = 1
    for before, after in zip(reversed(ended[:-1]), reversed(ended), strict=False):
        advanced = (after.last_step or 0) > (before.last_step or 0)
        if before.fingerprint != after.fingerprint or advanced:
            break
        count += 1
    return count
