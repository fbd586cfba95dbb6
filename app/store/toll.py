"""What failures have cost, by cause: the table that Acme draws (arXiv 2403.07648, table 3)."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean

from sqlalchemy import Engine, select

from app.store.database import transaction
from app.store.reclassifications import about
from app.store.run import Change, Run
from app.store.tables import DiagnosisRow as Row

_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Job:
    """One diagnosed attempt, as far as the scheduler told; times are seconds since the epoch."""

    diagnosis_id: str
    cause: str
    domain: str
    key: tuple[str, str] | None  # cluster and job
    gpus: int | None
    started_at: float | None
    ended_at: float | None

    @property
    def seconds(self) -> float | None:
        """How long it ran."""
        if self.started_at is None or self.ended_at is None:
            return None
        return max(self.ended_at - self.started_at, 0.0)


@dataclass(frozen=True, slots=True)
class Toll:
    """What one cause has cost; None where no scheduler told.

    `gpu_share` is its part of the GPU time of all failures; `to_failure` is the mean time that
    jobs ran before, `to_restart` that until their next attempt began, both in seconds.
    """

    cause: str
    domain: str
    count: int
    gpu_hours: float | None
    gpu_share: float | None
    to_failure: float | None
    to_restart: float | None


def toll(engine: Engine, run: Run, changes: Iterable[Change]) -> list[Toll]:
    """Add up what a run is about, as it came out, the costliest cause first; blocks."""
    if run.chosen.logs:
        return added_up(_unstored(changes))
    now = {one.subject: (one.cause, one.domain) for one in changes if one.cause is not None}
    return added_up(_jobs(engine, run, now))


def added_up(jobs: Iterable[Job]) -> list[Toll]:
    """Add up jobs by cause; those that were completed cost nothing."""
    known = list(jobs)
    restarts = _restarts(known)
    by_cause: dict[str, list[Job]] = defaultdict(list)
    for job in known:
        if job.cause != "Completed":
            by_cause[job.cause].append(job)
    spent = {cause: _gpu_hours(found) for cause, found in by_cause.items()}
    total = sum(hours for hours in spent.values() if hours is not None)
    rows = [
        Toll(
            cause=cause,
            domain=found[0].domain,
            count=len(found),
            gpu_hours=hours,
            gpu_share=hours / total if hours is not None and total else None,
            to_failure=_mean(job.seconds for job in found),
            to_restart=_mean(restarts.get(job.diagnosis_id) for job in found),
        )
        for cause, found in by_cause.items()
        for hours in [spent[cause]]
    ]
    return sorted(rows, key=lambda row: (-(row.gpu_hours or 0.0), -row.count, row.cause))


def _gpu_hours(jobs: Iterable[Job]) -> float | None:
    hours = [
        job.gpus * job.seconds / 3600
        for job in jobs
        if job.gpus is not None and job.seconds is not None
    ]
    return sum(hours) if hours else None


def _restarts(jobs: Iterable[Job]) -> dict[str, float]:
    """How long after each attempt's end the next one of its job began."""
    of_job: dict[tuple[str, str], list[Job]] = defaultdict(list)
    for job in jobs:
        if job.key is not None and job.started_at is not None:
            of_job[job.key].append(job)
    found = {}
    for attempts in of_job.values():
        attempts.sort(key=lambda job: job.started_at or 0.0)
        for before, after in zip(attempts, attempts[1:], strict=False):
            if before.ended_at is not None and after.started_at is not None:
                found[before.diagnosis_id] = max(after.started_at - before.ended_at, 0.0)
    return found


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _unstored(changes: Iterable[Change]) -> Iterator[Job]:
    for one in changes:
        if one.cause is not None:
            yield Job(one.subject, one.cause, one.domain or "none", None, None, None, None)


def _jobs(engine: Engine, run: Run, now: Mapping[str, tuple[str, str | None]]) -> Iterator[Job]:
    query = about(select(Row.id, Row.cause, Row.domain, Row.cluster, Row.job), run)
    last = ""
    while True:
        with transaction(engine) as connection:
            part = query.where(Row.id > last).order_by(Row.id).limit(_AT_ONCE)
            rows = connection.execute(part).all()
        for id, cause, domain, cluster, text in rows:
            other, other_domain = now.get(id, (None, None))
            yield _job(
                id, other or cause or "Unknown", other_domain or domain or "none", cluster, text
            )
        if len(rows) < _AT_ONCE:
            return
        last = rows[-1][0]


def _job(id: str, cause: str, domain: str, cluster: str | None, text: str) -> Job:
    told = json.loads(text)
    key = (cluster or "", str(told["job_id"])) if told.get("job_id") else None
    times = told.get("gpus"), told.get("started_at"), told.get("ended_at")
    return Job(id, cause, domain, key, *times)
