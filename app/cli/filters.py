"""`firstfault filters`: look at what a model wrote, switch it off, export it for review."""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
import yaml

from app.cli.configured import configured, has_database
from app.cli.page import Page, printable
from app.errors import UsageError
from app.rulebook.lines import FilterForm

if TYPE_CHECKING:  # a database takes half a second to import, which other commands do not need
    from app.store.filters import Filters, KeptFilter

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

filters = typer.Typer(
    help="Look after the filters that a model wrote.", no_args_is_help=True, rich_markup_mode=None
)

JobType = Annotated[str | None, typer.Option("--job-type", help="Those of one type of job.")]
Ids = Annotated[list[str], typer.Argument(help="Ids, as `filters list` shows them.")]


@filters.command(name="list")
def list_filters(
    job_type: JobType = None,
    state: Annotated[
        Literal["active", "off", "retired"] | None, typer.Option(help="Those in one state.")
    ] = None,
) -> None:
    """List filters by type of job, with their votes and their use."""
    page = Page(sys.stdout)
    found = _filters().page(job_type, state)
    for one in found:
        page.line(
            page.marked(printable(f"{one.job_type}/{one.name}"), "strong"),
            f" · {one.state} · {one.id}",
        )
        page.whole(one.match, indent=4)
        page.prose(_told(one), indent=4)
    if not found:
        page.prose("There are none.")


@filters.command()
def on(ids: Ids) -> None:
    """Let filters take lines away again."""
    _switch(ids, on=True)


@filters.command()
def off(ids: Ids) -> None:
    """Stop filters from taking lines away."""
    _switch(ids, on=False)


@filters.command()
def export(
    into: Annotated[
        Path | None, typer.Option(help="A folder; a file for each, as in rules/filters.")
    ] = None,
    job_type: JobType = None,
) -> None:
    """Write active filters in the form of rule files, for a person to review."""
    found = _filters().page(job_type, "active")
    if into is None:
        print("---\n".join(as_rule(one) for one in found), end="")
        return
    try:
        into.mkdir(parents=True, exist_ok=True)
        for one in found:
            (into / f"{file_name(one)}.yaml").write_text(as_rule(one), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{into}: cannot be written: {error.strerror or error}") from error
    print(f"{len(found)} filters are in {into}; they are drafts until somebody says `stable`")


def as_rule(one: "KeptFilter") -> str:
    """Spell a filter out as a file of rules/filters."""
    form = FilterForm(
        title=one.title,
        status="draft",
        summary=one.why,
        do="drop",
        match=(one.match,),
        hits=one.hits,
        misses=one.misses,
    )
    text = yaml.safe_dump(
        form.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=100
    )
    said = f"# {one.author} for {one.job_type}: {_told(one)}"
    return f"{_CONTROL.sub(' ', said)}\n{text}"


def file_name(one: "KeptFilter") -> str:
    """Name the file of a filter after its type and itself."""
    kind = re.sub(r"[^a-z0-9]+", "_", one.job_type.lower()).strip("_")
    name = f"{kind}_{one.name}" if kind else one.name
    return name if name[0].isalpha() else f"of_{name}"


def _told(one: "KeptFilter") -> str:
    used = f"{one.taken} lines" if one.taken else "no line yet"
    if one.taken and one.last_hit_at:
        used += f", the last on {datetime.fromtimestamp(one.last_hit_at, UTC).date().isoformat()}"
    based = f"; copied from {one.based_on}" if one.based_on else ""
    return f"{one.votes} of {one.answers} answers, {one.share:.1%} of the log; took {used}{based}"


def _switch(ids: list[str], *, on: bool) -> None:
    known = _filters(writes=True)
    for id in ids:
        one = known.switch(id, on=on)
        print(printable(f"{one.id} {one.job_type}/{one.name}: {one.state}"))


def _filters(*, writes: bool = False) -> "Filters":
    settings = configured()
    if not has_database(settings):
        raise UsageError("there are no filters: no service has run here (FIRSTFAULT_DATA_DIR)")
    from app.cli.database import opened
    from app.store.filters import Filters

    return Filters(opened(settings, writes=writes))
