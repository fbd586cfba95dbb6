"""`firstfault memory`: find past incidents, make their index anew.

A search reads SQL alone, so it may run beside a service; only `rebuild` opens the index, which
belongs to one process at a time.
"""

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.configured import configured, has_memory
from app.cli.page import Page, clipped, printable
from app.cli.rulebook import compiled_rules
from app.errors import UsageError
from app.incident import Incident, Recalled
from app.pipeline import diagnose
from app.settings import Settings

if TYPE_CHECKING:  # a database takes half a second to import, which other commands do not need
    from app.cli.recall import Remembered

_COLUMNS = 96

memory = typer.Typer(help="Find past incidents.", no_args_is_help=True, rich_markup_mode=None)


@memory.command()
def search(
    text: Annotated[
        str | None, typer.Argument(help="Words, or a line of a log.", show_default=False)
    ] = None,
    log: Annotated[Path | None, typer.Option(help="A log: what failed like this?")] = None,
    incident: Annotated[
        str | None, typer.Option(help="Id of an incident or of its diagnosis.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, max=50, help="How many to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find incidents that are like a text, a log or another incident."""
    if sum(given is not None for given in (text, log, incident)) != 1:
        raise UsageError("give one of TEXT, --log FILE, --incident ID")
    known = _remembered(configured())
    found = _found(known, text, log, incident, most)
    incidents = known.incidents([one.id for one in found.precedents])
    if as_json:
        print(json.dumps(_told(found, incidents), indent=1))
    else:
        _show(found, incidents, Page(sys.stdout))


@memory.command()
def rebuild() -> None:
    """Make the index of incidents anew from the database."""
    from app.work.keeper import index_of

    settings = configured()
    known = _remembered(settings)
    folder = settings.data_dir.absolute() / "memory"
    count = known.rebuild(index_of(folder, settings.chroma_url))
    print(f"{count} incidents are in the index")


def _remembered(settings: Settings) -> "Remembered":
    if not has_memory(settings):
        raise UsageError("there is no memory: no service has run here (FIRSTFAULT_DATA_DIR)")
    from app.cli.database import opened
    from app.cli.recall import Remembered

    opened(settings).dispose()
    return Remembered(settings)


def _found(
    known: "Remembered", text: str | None, log: Path | None, incident: str | None, most: int
) -> Recalled:
    if text is not None:
        return known.search(text, most)
    if incident is not None:
        return known.like(incident, most)
    assert log is not None
    return diagnose([log], compiled_rules(), memory=known.showing(most)).recalled


def _told(found: Recalled, incidents: dict[str, Incident]) -> dict[str, object]:
    items = [
        {"similarity": one.similarity, **asdict(incidents[one.id])} for one in found.precedents
    ]
    return {"items": items, "agreed": found.agreed, "note": found.note}


def _show(found: Recalled, incidents: dict[str, Incident], page: Page) -> None:
    if found.note:
        page.prose(found.note)
    if not found.precedents:
        page.prose("No incident is like that.")
    for one in found.precedents:
        incident = incidents[one.id]
        said = "confirmed" if one.confirmed else "not confirmed"
        day = datetime.fromtimestamp(incident.created_at, UTC).date().isoformat()
        job = f", job {incident.job_id}" if incident.job_id else ""
        page.prose(f"{one.similarity:.2f} {one.cause} ({said}), {day}{job}, {one.id}")
        for line in incident.snippet.lines[:2]:
            page.line("    ", page.marked(clipped(printable(line), _COLUMNS), "faint"))
