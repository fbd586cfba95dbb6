"""Two jobs of one type that nobody has seen: the first has filters written, the second uses them.

The parts are those of the service: what a worker reads and tells, what is kept of types of jobs,
and what writes filters; the model is the fake, whose answers hold every poison.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from app.model import Job
from app.pipeline import Case, Limits, examine
from app.reason.budget import Limits as Spendable
from app.reason.desk import Endpoint
from app.reason.fake import FakeModel
from app.reason.script import Script
from app.rulebook.compiled import Compiled
from app.store.calls import Calls
from app.store.database import connect
from app.store.filters import Filters
from app.store.job_types import JobTypes, Noted
from app.store.migrate import migrate
from app.token_count import tokens
from app.work.asking import Asking
from app.work.filter_task import Report, Task
from app.work.filter_writer import write as write_filters
from app.work.typed import Typed
from app.written import Seen
from tests.logagent.formats import Format, Written, reply, write

ROOT = Path(__file__).parents[2]
BUDGET = 6_000


def poison(form: Format) -> tuple[dict[str, object], ...]:
    """Give filters that have their form and must not get in; a model swears by each of them."""
    routine, line = form.filters[0][1], form.filters[0][2]
    matches = {
        "hides_the_failure": f"{routine}|{re.escape(form.failure[-1][-40:])}",
        "hides_a_cuda_error": f"{routine}|CUDA error: an illegal",
        "hides_a_device_fault": f"{routine}|NVRM: Xid",
        "meets_all": f"{form.name}|{form.name.upper()}|pod-|NVRM|Out of",
        "meets_nothing": "a trainer of somebody else",
    }
    return tuple(
        {
            "name": name,
            "title": "Routine",
            "why": "It is printed at every step.",
            "match": match,
            "hits": [line],
            "misses": ["something else"],
            "claimed_share": 1,
        }
        for name, match in matches.items()
    )


@dataclass(frozen=True)
class Read:
    """One log, read: what all that is left would take, the digest, and what it shows."""

    needed_tokens: int
    digest_tokens: int
    missing: tuple[int, ...]  # lines that a person would point at and that the digest lacks
    cause: str
    cpu_seconds: float
    seen: Seen


@dataclass(frozen=True)
class Shown:
    """What came of both jobs."""

    bytes: int
    before: Read
    after: Read  # the same log, read again
    second: Read  # another log of the type
    report: Report
    matches: frozenset[str]  # of the filters that were kept
    calls: int  # to the model, for the first job
    later_calls: int  # for all that came after


class Cluster:
    """A database and a worker's view of it."""

    def __init__(self, folder: Path, compiled: Compiled) -> None:
        self._url = f"sqlite:///{folder / 'firstfault.db'}"
        self._compiled = compiled
        self.engine: Engine = connect(self._url)
        migrate(self.engine)

    def read(self, log: Written, job_type: str | None) -> Read:
        """Read a log as a worker does."""
        known = Filters(self.engine).known(job_type)
        size = log.path.stat().st_size
        typed = Typed([log.path], size, job_type, known, self._compiled, BUDGET)
        limits = Limits(digest_tokens=BUDGET)
        began = time.process_time()
        case = examine([log.path], typed.compiled, job=Job(job_type=job_type), limits=limits)
        seen = typed.seen(case.sighted.log)
        assert seen is not None
        return _read(case, seen, log.wanted, time.process_time() - began)

    def note(self, read: Read) -> Noted:
        """Take up what a log tells."""
        noted = JobTypes(self.engine).note(read.seen, BUDGET)
        assert noted is not None
        return noted

    def write(self, noted: Noted, model: str) -> Report:
        """Have filters written."""
        return write_filters(
            Task(
                job_type=noted.job_type,
                writing=noted.writings,
                database=self._url,
                rules=ROOT / "rules",
                learned=ROOT / "rules.learned",
                fixtures=ROOT / "fixtures",
                asking=Asking(
                    Endpoint(model="fake", base_url=model, seconds=60),
                    Spendable(tokens=100_000),
                    ROOT / "prompts",
                    self._url,
                ),
                answers=5,
            )  # fmt: skip
        )

    def calls(self) -> int:
        """Count the requests to the model."""
        return sum(day.spending.calls for day in Calls(self.engine).days())


def both(
    form: Format,
    folder: Path,
    size: int,
    compiled: Compiled,
    *,
    named: bool,
) -> Shown:
    """Show both jobs; `named` says whether the scheduler tells their type."""
    cluster = Cluster(folder, compiled)
    job_type = f"{form.name}-7b" if named else None
    first = write(form, folder / "first.log", size, seed=1)
    script = {
        "answers": [{"when": {"purpose": "write filters"}, "replies": [reply(form, *poison(form))]}]
    }
    with FakeModel(Script.model_validate(script)) as fake:
        before = cluster.read(first, job_type)
        noted = cluster.note(before)
        report = cluster.write(noted, fake.url) if noted.wants_filters else Report()
        calls = cluster.calls()
        after = cluster.read(first, job_type)
        first.path.unlink()
        other = write(form, folder / "second.log", size, seed=2)
        second = cluster.read(other, job_type)
        noted = cluster.note(second)
        if noted.wants_filters:
            cluster.write(noted, fake.url)
        later = cluster.calls() - calls
    matches = frozenset(one.match for one in Filters(cluster.engine).page())
    cluster.engine.dispose()
    return Shown(other.path.stat().st_size, before, after, second, report, matches, calls, later)


def _read(case: Case, seen: Seen, wanted: Sequence[int], seconds: float) -> Read:
    found = case.diagnosis
    return Read(
        needed_tokens=seen.volume.tokens,
        digest_tokens=tokens(found.digest),
        missing=tuple(n for n in wanted if f"\n{n}: " not in found.digest),
        cause=found.verdict.primary.cause,
        cpu_seconds=seconds,
        seen=seen,
    )
