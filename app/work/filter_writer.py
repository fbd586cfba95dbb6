"""What writes the filters of one type of job: a process of its own, that ends when it is done.

It reads its task from standard input and says in one line of JSON what came of it. All that it
keeps, it keeps in the database, once a writing, so it may be started again at any time. Where the
model gives no answer the writing counts as done, and the next one comes after the usual pause.
"""

import os
import sys
from collections.abc import Sequence

from app.errors import FirstFaultError, ModelError
from app.reason.budget import Budget
from app.reason.client import Client
from app.reason.gates import Evidence
from app.reason.log_agent import PROMPT, Known, Written, write_filters
from app.reason.prompt import Prompts
from app.rulebook.load import load
from app.store.database import connect
from app.store.filters import Filters
from app.store.job_types import JobTypes, Material
from app.work.asking import books
from app.work.evidence import evidence_of_rules, evidence_of_stories
from app.work.filter_task import REPORT, TASK, Report, Task

_NICENESS = 15
_MOST_REASONS = 5


def write(task: Task) -> Report:
    """Have filters written, and keep them; raise StoreError or RulebookError."""
    engine = connect(task.database)
    types = JobTypes(engine)
    material = types.material(task.job_type)
    if material is None or material.writings != task.writing:
        return Report()  # done before
    prompts = Prompts(task.asking.prompts)
    author = f"{task.asking.endpoint.model} {PROMPT}/{prompts[PROMPT].form.version}"
    filters = Filters(engine)
    known = _known(filters, task.job_type)
    evidence = [
        *evidence_of_rules(load(task.rules, learned=task.learned)),
        *evidence_of_stories(task.fixtures),
        *(Evidence(text, origin) for text, origin in filters.confirmed_lines()),
    ]
    try:
        written = _written(task, material, evidence, known, prompts)
    except ModelError as error:
        types.keep(task.job_type, task.writing, (), author)
        return Report(fault=f"{error.fault}: {error}")
    types.keep(task.job_type, task.writing, written.proposals, author)
    return Report(
        kept=tuple(one.name for one in written.proposals),
        refused=len(written.refused),
        reasons=tuple(dict.fromkeys(one.why for one in written.refused))[:_MOST_REASONS],
    )


def _known(filters: Filters, job_type: str) -> Known:
    matches = {
        state: tuple(one.match for one in filters.page(job_type, state))
        for state in ("active", "off")
    }
    return Known(**matches)


def _written(
    task: Task,
    material: Material,
    evidence: Sequence[Evidence],
    known: Known,
    prompts: Prompts,
) -> Written:
    asking = task.asking
    record, day = books(asking.database)
    client = Client(asking.endpoint, record)
    try:
        return write_filters(
            task.job_type,
            material.volume,
            evidence,
            client,
            prompts[PROMPT],
            Budget(asking.limits, day, diagnosis_id=material.diagnosis_id),
            task.answers,
            known,
        )
    finally:
        client.close()


def main() -> None:
    """Read the task, write, and tell; what fails is told and ends the process."""
    os.nice(_NICENESS)
    task = TASK.validate_json(sys.stdin.readline())
    try:
        report, status = write(task), 0
    except FirstFaultError as error:
        report, status = Report(fault=str(error)), error.exit_code
    sys.stdout.write(REPORT.dump_json(report).decode() + "\n")
    sys.stdout.flush()
    os._exit(status)  # not waiting for the thread of the client


if __name__ == "__main__":
    main()
