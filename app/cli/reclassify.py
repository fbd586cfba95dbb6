"""`firstfault reclassify`: old diagnoses, or a folder of logs, under the rules of today.

Stored diagnoses are taken from the database of the settings, beside a running service if need be.
A folder holds one job in each file or folder below it; of these only what the run came to is kept.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.configured import configured, has_database
from app.errors import FirstFaultError, StoreError, UsageError
from app.settings import Settings

if TYPE_CHECKING:  # a database takes half a second to import, which other commands do not need
    from app.store.reclassifications import Reclassifications
    from app.store.run import Asks, Chosen, Run

_DATES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]

Output = Literal["text", "json", "csv", "changes-csv"]
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
    with_model: Annotated[
        bool, typer.Option("--with-model", help="Ask the model of the settings where in doubt.")
    ] = False,
    model: Annotated[str | None, typer.Option(help="Ask this one at its endpoint.")] = None,
    prompts: Annotated[
        Path | None, typer.Option(help="Ask with the prompts of this folder.", show_default=False)
    ] = None,
    model_calls: Annotated[
        int, typer.Option(min=0, help="Calls that the whole run may make; 0: any number.")
    ] = 0,
    model_tokens: Annotated[
        int, typer.Option(min=0, help="Tokens that the whole run may take; 0: any number.")
    ] = 0,
    resume: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with a run that was broken off.")
    ] = None,
    output: Annotated[Output, typer.Option(help="How to print the outcome.")] = "text",
) -> None:
    """Judge old diagnoses again: what changes, and what failures cost by cause."""
    from app.cli.database import opened
    from app.cli.outcome import print_outcome
    from app.store.reclassifications import Reclassifications
    from app.store.run import Chosen
    from app.store.toll import toll

    settings = configured(prompts_dir=prompts)
    filtered = any((cause, cluster, job_id, since, until, apply))
    asking = with_model or any((model, prompts, model_calls, model_tokens))
    times = _seconds(since), _seconds(until)
    _check(folders or [], filtered, asking, resume)
    _check_there(settings, folders or [], *times)
    engine = opened(settings, writes=True)
    runs = Reclassifications(engine)
    if resume:
        run = runs.reopen(resume)
    else:
        chosen = Chosen(cause, cluster, job_id, *times, _places(folders or []))
        asks = _asks(settings, model, model_calls, model_tokens) if asking else None
        run = _begun(runs, settings, chosen, asks, apply)
    ended = _gone_through(runs, run, settings)
    print_outcome(ended, runs, toll(engine, ended, runs.every_change(run.id)), output)


def _check(folders: list[str], filtered: bool, asking: bool, resume: str | None) -> None:
    if "" in folders:
        raise UsageError("the name of a folder is empty")
    if folders and filtered:
        raise UsageError("filters and --apply are for stored diagnoses, not for folders")
    if resume and (folders or filtered or asking):
        raise UsageError("--resume goes on with what the run was begun with; it takes no more")


def _check_there(
    settings: Settings, folders: list[str], since: float | None, until: float | None
) -> None:
    """Refuse what can be about nothing, before a database is made for it."""
    if since is not None and until is not None and since >= until:
        raise UsageError("--since is not before --until: nothing is between them")
    if not folders and not has_database(settings):
        raise UsageError("there are no diagnoses: no service has run here (FIRSTFAULT_DATA_DIR)")


def _seconds(moment: datetime | None) -> float | None:
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _places(folders: list[str]) -> tuple[str, ...]:
    from app.work.object_names import SCHEME, of_uri

    return tuple(
        str(of_uri(folder) if folder.startswith(SCHEME) else Path(folder).absolute())
        for folder in folders
    )


def _asks(settings: Settings, model: str | None, calls: int, tokens: int) -> "Asks":
    from app.service.reclassification import Wish, asks

    return asks(settings, Wish(model, calls, tokens))


def _begun(
    runs: "Reclassifications",
    settings: Settings,
    chosen: "Chosen",
    asks: "Asks | None",
    applies: bool,
) -> "Run":
    from app.rulebook.load import load
    from app.service.objects import object_store
    from app.service.reclassification import check_cause
    from app.work.folder import jobs_in

    if chosen.cause is not None:
        check_cause(runs, settings, chosen.cause)
    return runs.begin(
        chosen,
        applies=applies,
        rules=load(settings.rules_dir, settings.cache_dir, settings.learned_dir).fingerprint,
        driver="command",
        asks=asks,
        total=len(jobs_in(chosen.logs, object_store(settings))) if chosen.logs else None,
    )


def _gone_through(runs: "Reclassifications", run: "Run", settings: Settings) -> "Run":
    """Go on to the end; a run that cannot go on has failed, and may be resumed when that is mended.

    What a kill breaks off is resumed too, so its name is told first.
    """
    from app.service.reclassification import go_on
    from app.work import journal

    journal.set_up("command")  # standard output is for the outcome
    print(f"firstfault: if this is broken off, go on with --resume {run.id}", file=sys.stderr)
    try:
        with _bar(run.total) as moved:
            return go_on(runs, run, settings, lambda now: moved(now.done))
    except StoreError:
        raise
    except FirstFaultError as error:
        runs.end(run.id, "failed", str(error))
        raise


@contextmanager
def _bar(total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("judging", total=total)
        yield lambda done: drawn.update(task, completed=done)
