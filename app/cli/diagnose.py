"""`firstfault diagnose` and `firstfault compress`: a log in, an answer out."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import typer

from app.answer import answer
from app.cli.configured import configured, has_database, has_memory
from app.cli.page import Page
from app.cli.rulebook import compiled_rules
from app.cli.show import show
from app.cli.written import with_filters
from app.errors import UsageError
from app.judge.in_doubt import in_doubt
from app.model import Diagnosis, Job
from app.pipeline import Case, Limits, Memory, Progress, examine
from app.rulebook.compiled import Compiled

_PACKED = (".gz", ".zst")
Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH…", help="Log files or folders of one job; - for standard input."),
]


def diagnose(
    paths: Paths,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    rules_only: Annotated[
        bool,
        typer.Option("--rules-only", help="Ask no model and no memory, even if there are any."),
    ] = False,
    state: Annotated[str | None, typer.Option(help="The scheduler's word, e.g. TIMEOUT.")] = None,
    exit_code: Annotated[int | None, typer.Option(help="The job's exit code.")] = None,
    job_type: Annotated[str | None, typer.Option(help="A name for jobs of this kind.")] = None,
    job_id: Annotated[str | None, typer.Option(help="The scheduler's id of the job.")] = None,
    scheduler: Annotated[
        Literal["slurm", "kubernetes"] | None, typer.Option(help="Whose commands to show.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Scanning threads.")] = 1,
    follow: Annotated[
        bool, typer.Option("--follow", help="Watch one file that is still written, to its end.")
    ] = False,
    quiet: Annotated[
        float, typer.Option(min=0, help="Seconds without a line that are the end for --follow.")
    ] = 600,
) -> None:
    """Name the first fault of a job, where it sits, and what to do."""
    job = Job(
        job_id=job_id, job_type=job_type, scheduler=scheduler, state=state, exit_code=exit_code
    )
    inputs, compiled = _inputs(paths), compiled_rules()
    if not rules_only:
        compiled = with_filters(compiled, inputs, job_type, Limits().digest_tokens)
    if follow:
        from app.cli.follow import followed

        found = followed(paths, quiet, compiled, job, Limits())
    else:
        memory = None if rules_only else _memory()
        case = _case(paths, inputs, compiled, job, memory, Limits(threads=threads), not as_json)
        found = case.diagnosis if rules_only else _refined(case)
    if as_json:
        ascii_only = sys.stdout.encoding.lower() not in ("utf-8", "utf8")
        print(json.dumps(answer(found), ensure_ascii=ascii_only, indent=1))
    else:
        show(found, Page(sys.stdout))


def _case(
    paths: list[str],
    inputs: list[Path | BinaryIO],
    compiled: Compiled,
    job: Job,
    memory: Memory | None,
    limits: Limits,
    bar: bool,
) -> Case:
    with _progress(paths, wanted=bar) as progress:
        return examine(inputs, compiled, job=job, memory=memory, limits=limits, progress=progress)


def compress(
    paths: Paths,
    tokens: Annotated[int, typer.Option(min=200, help="Budget of the digest.")] = 6000,
    job_type: Annotated[str | None, typer.Option(help="A name for jobs of this kind.")] = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Scanning threads.")] = 1,
) -> None:
    """Print the digest: what a person or a model is shown of a log."""
    limits = Limits(digest_tokens=tokens, threads=threads)
    inputs = _inputs(paths)
    compiled = with_filters(compiled_rules(), inputs, job_type, tokens)
    with _progress(paths, wanted=True) as progress:
        case = examine(inputs, compiled, limits=limits, progress=progress)
    sys.stdout.write(case.diagnosis.digest)


def _refined(case: Case) -> Diagnosis:
    """Ask the model that is configured, where the rules leave a doubt."""
    settings = configured()
    if settings.model is None or not in_doubt(case.diagnosis.verdict):
        return case.diagnosis
    from app.consult import consult  # what talks to a model takes a second to import
    from app.service.asking import asking
    from app.work.asking import Agents

    told = asking(settings, keeps_calls=has_database(settings))
    assert told is not None
    return consult(case, Agents().of(told), digest_tokens=settings.digest_tokens)


def _memory() -> Memory | None:
    """Open the past incidents, where there are any."""
    settings = configured()
    if not has_memory(settings):
        return None
    from app.cli.recall import Remembered  # a database takes half a second to import

    return Remembered(settings).showing()


def _inputs(paths: list[str]) -> list[Path | BinaryIO]:
    if paths.count("-") > 1:
        raise UsageError("- stands for standard input, which can be read only once")
    return [sys.stdin.buffer if path == "-" else Path(path) for path in paths]


@contextmanager
def _progress(paths: list[str], wanted: bool) -> Iterator[Progress | None]:
    """Show a bar on a terminal, once reading has taken a moment."""
    if not (wanted and sys.stderr.isatty()):
        yield None
        return
    from app.cli.bar import bar  # most logs are read before a bar would be seen

    with bar(_text_bytes(paths)) as told:
        yield told


def _text_bytes(paths: list[str]) -> int | None:
    """How much text there is to read; unknown for folders, streams and compressed files."""
    if not all(os.path.isfile(path) and Path(path).suffix not in _PACKED for path in paths):
        return None
    return sum(os.path.getsize(path) for path in paths)
