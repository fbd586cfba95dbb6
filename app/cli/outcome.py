"""Print what a reclassification came to: what changed, and what failures cost by cause."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from app.cli.page import Page, printable
from app.cli.reclassify import Output
from app.store.reclassifications import Reclassifications
from app.store.run import Change, Listed, Run
from app.store.toll import Toll
from app.store.toll_csv import as_csv, changes_csv

_MOST_SHOWN = 50


def print_outcome(run: Run, runs: Reclassifications, table: Sequence[Toll], output: Output) -> None:
    """Print all of it as text or JSON, or one of both tables as CSV."""
    match output:
        case "json":
            told = {
                "run": asdict(run),
                "changed": [change.spelt() for change in runs.every_change(run.id)],
                "table": [asdict(row) for row in table],
            }
            print(json.dumps(told, indent=1))
        case "csv":
            sys.stdout.write(as_csv(table))
        case "changes-csv":
            sys.stdout.writelines(changes_csv(runs.every_change(run.id)))
        case "text":
            page, listed = Page(sys.stdout), runs.listed(run.id)
            _show_run(run, listed, page)
            _show_changes(runs.changes(run.id, None, _MOST_SHOWN), listed, page)
            _show_table(table, page)


def _show_run(run: Run, listed: Listed, page: Page) -> None:
    was = "" if run.status == "complete" else f", and is {run.status}"
    if run.chosen.logs:
        many = listed.changed + listed.unjudged
        page.line(f"{run.done} of {run.total} judged{was}; {many} listed below")
    else:
        told = f"{listed.changed} of {run.done} verdicts"
        whole = f"applied: {told} changed" if run.applies else f"dry run: {told} would change"
        page.line(f"{whole}; {run.done} of {run.total} judged{was}")
    for count, words in (
        (run.from_kept, "from what was kept of their logs"),
        (run.from_logs, "from their logs"),
        (run.unread, "whose logs cannot be read or judged"),
    ):
        if count:
            page.line(f"  {count} {words}")
    if run.asks is not None:
        page.line(
            printable(
                f"  {run.asked} that rules leave in doubt: {run.asks.model} was asked in "
                f"{run.calls} calls of {run.tokens} tokens"
            )
        )
    if run.unheard:
        page.line(f"  {run.unheard} of these without an answer, where the rules stand")
        page.prose(f"the last time: {run.note}", indent=4)


def _show_changes(changes: Sequence[Change], listed: Listed, page: Page) -> None:
    for one in changes:
        before = f"{one.cause_before} ({one.action_before}) → " if one.cause_before else ""
        now = f"{one.cause} ({one.action})" if one.cause else f"not judged: {one.why}"
        by = ", by the model" if one.by_model else ""
        page.line(printable(f"{one.subject}  {before}{now}{by}"))
    more = listed.changed + listed.unjudged - len(changes)
    if more > 0:
        page.line(f"… and {more} more: --output json lists all")


def _show_table(table: Sequence[Toll], page: Page) -> None:
    page.line("")
    page.line(
        f"{'cause':24}{'count':>7}{'GPU hours':>12}{'share':>8}{'to failure':>12}{'to restart':>12}"
    )
    for row in table:
        page.line(
            f"{row.cause:24}{row.count:>7}{_number(row.gpu_hours, 12, 1)}"
            f"{_number(row.gpu_share, 8, 3)}{_minutes(row.to_failure)}{_minutes(row.to_restart)}"
        )


def _number(value: float | None, width: int, digits: int) -> str:
    return f"{'-':>{width}}" if value is None else f"{value:>{width}.{digits}f}"


def _minutes(seconds: float | None) -> str:
    return f"{'-':>12}" if seconds is None else f"{seconds / 60:>8.0f} min"
