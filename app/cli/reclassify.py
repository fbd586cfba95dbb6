"""`firstfault reclassify`: old diagnoses, or a folder of logs, under the rules of today.

Stored diagnoses are taken from the database of the settings, beside a running service if need be.
A folder holds one job in each file or folder below it; nothing of it is stored.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.configured import configured
from app.cli.page import Page, printable
from app.errors import UsageError
from app.settings import Settings

if TYPE_CHECKING:  # a database takes half a second to import, which other commands do not need
    from app.store.reclassifications import Chosen

_MOST_SHOWN = 50
_TABLE = ("cause", "domain", "count", "gpu_hours", "gpu_share", "to_failure", "to_restart")
_FROM = {
    "from_kept": "from what was kept of their logs",
    "from_logs": "from their logs",
    "unread": "whose logs cannot be read",
}
_DATES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]

Output = Literal["text", "json", "csv"]
Moment = Annotated[datetime | None, typer.Option(formats=_DATES, help="A time, UTC.")]


def reclassify(
    folders: Annotated[
        list[str] | None,
        typer.Argument(
            help="Folders of logs, or s3://bucket/prefix/; none: the stored diagnoses.",
            show_default=False,
        ),
    ] = None,
    cause: Annotated[str | None, typer.Option(help="Only those with this cause.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Only those of this cluster.")] = None,
    job_id: Annotated[str | None, typer.Option(help="Only those of this job.")] = None,
    since: Moment = None,
    until: Moment = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Replace verdicts; else only tell.")
    ] = False,
    output: Annotated[Output, typer.Option(help="How to print the outcome.")] = "text",
) -> None:
    """Judge old diagnoses again: what changes, and what failures cost by cause."""
    settings = configured()
    if folders:
        if apply or any((cause, cluster, job_id, since, until)):
            raise UsageError("filters and --apply are for stored diagnoses, not for folders")
        told = _of_folders(folders, settings)
    else:
        from app.store.reclassifications import Chosen

        begin, end = (_seconds(moment) for moment in (since, until))
        told = _of_stored(settings, Chosen(cause, cluster, job_id, begin, end), apply)
    _print(told, output)


@dataclass(frozen=True, slots=True)
class Told:
    """An outcome, as JSON has it."""

    run: dict[str, object]
    changed: list[dict[str, object]]
    table: list[dict[str, object]]


def _seconds(moment: datetime | None) -> float | None:
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _of_stored(settings: Settings, chosen: "Chosen", applies: bool) -> Told:
    from app.service.reclassification import surroundings
    from app.store.database import connect
    from app.store.migrate import migrate
    from app.store.reclassifications import Reclassifications
    from app.store.toll import toll
    from app.work.reclassify import executor, run_through

    engine = connect(settings.database)
    migrate(engine)
    runs = Reclassifications(engine)
    run = runs.begin(chosen, applies=applies)
    with executor(settings.workers, settings.dask_scheduler) as pool, _bar(run.total) as moved:
        ended = run_through(
            runs,
            run,
            surroundings(settings),
            pool,
            at_once=settings.workers,
            progress=lambda now: moved(now.done),
        )
    changes = runs.changes(run.id, None, 1_000_000)
    instead = {change.diagnosis_id: change.cause or "Unknown" for change in changes}
    return Told(
        run=asdict(ended),
        changed=[asdict(change) for change in changes],
        table=[asdict(row) for row in toll(engine, chosen, instead)],
    )


def _of_folders(folders: Sequence[str], settings: Settings) -> Told:
    from app.service.objects import object_store
    from app.service.reclassification import surroundings
    from app.store.toll import Job, added_up
    from app.work.folder import jobs_in, judge_all
    from app.work.reclassify import executor

    paths = jobs_in(folders, object_store(settings))
    found = []
    with executor(settings.workers, settings.dask_scheduler) as pool, _bar(len(paths)) as moved:
        for judged in judge_all(paths, surroundings(settings), pool):
            found.append(judged)
            moved(len(found))
    unread = sum(judged.cause is None for judged in found)
    jobs = [
        Job(one.log, one.cause, one.domain, None, None, None, None) for one in found if one.cause
    ]
    return Told(
        run={"total": len(found), "done": len(found), "from_logs": len(jobs), "unread": unread},
        changed=[asdict(judged) for judged in found],
        table=[asdict(row) for row in added_up(jobs)],
    )


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("judging", total=total)
        yield lambda done: drawn.update(task, completed=done)


def _print(told: Told, output: Output) -> None:
    if output == "json":
        print(json.dumps(asdict(told), indent=1))
    elif output == "csv":
        writer = csv.DictWriter(sys.stdout, _TABLE, lineterminator="\n")
        writer.writeheader()
        writer.writerows(told.table)
    else:
        _show(told, Page(sys.stdout))


def _show(told: Told, page: Page) -> None:
    run = told.run
    page.line(f"{run['done']} of {run['total']} judged, {len(told.changed)} listed below")
    for name, words in _FROM.items():
        if run.get(name):
            page.line(f"  {run[name]} {words}")
    for one in told.changed[:_MOST_SHOWN]:
        named = str(one.get("diagnosis_id") or one.get("log"))
        before = (
            f"{one['cause_before']} ({one['action_before']}) → " if "cause_before" in one else ""
        )
        page.line(printable(f"{named}  {before}{one['cause']} ({one['action']})"))
    if len(told.changed) > _MOST_SHOWN:
        page.line(f"… and {len(told.changed) - _MOST_SHOWN} more: --output json lists all")
    page.line("")
    page.line(
        f"{'cause':24}{'count':>7}{'GPU hours':>12}{'share':>8}{'to failure':>12}{'to restart':>12}"
    )
    for row in told.table:
        page.line(
            f"{row['cause']!s:24}{row['count']!s:>7}{_number(row['gpu_hours'], 12, 1)}"
            f"{_number(row['gpu_share'], 8, 3)}{_minutes(row['to_failure'])}"
            f"{_minutes(row['to_restart'])}"
        )


def _number(value: object, width: int, digits: int) -> str:
    return f"{value:>{width}.{digits}f}" if isinstance(value, float) else f"{'-':>{width}}"


def _minutes(seconds: object) -> str:
    return f"{seconds / 60:>8.0f} min" if isinstance(seconds, float) else f"{'-':>12}"
