"""`firstfault diagnose --follow`: watch a log while its job runs; the verdict comes at its end.

News go to standard error, so that the answer on standard output is the same as of any diagnosis.
"""

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from app.cli.page import Page
from app.errors import UsageError
from app.following import News, follow
from app.model import Diagnosis, Job
from app.pipeline import Limits
from app.read.follow import Following
from app.rulebook.compiled import Compiled


def followed(
    paths: Sequence[str], quiet_seconds: float, compiled: Compiled, job: Job, limits: Limits
) -> Diagnosis:
    """Follow one file; Ctrl-C asks for the verdict on what is there, a second one gives up."""
    path = one_file(paths)
    page = Page(sys.stderr)
    following = Following(path, quiet_seconds)
    there = "" if path.exists() else ", which is not there yet"
    page.line(
        f"following {path}{there}; Ctrl-C for the verdict, which comes after ", _span(quiet_seconds)
    )
    with _interrupted(following):
        return follow(
            str(path),
            following,
            compiled,
            lambda news: _show(news, limits.digest_tokens, page),
            job=job,
            limits=limits,
        )


def one_file(paths: Sequence[str]) -> Path:
    """Give the file that can be followed; raise UsageError for anything else."""
    if len(paths) != 1 or paths[0] == "-" or Path(paths[0]).is_dir():
        raise UsageError("--follow takes one file")
    return Path(paths[0])


def _show(news: News, budget_tokens: int, page: Page) -> None:
    over = ", over its budget" if news.tokens > budget_tokens else ""
    page.line(
        f"{news.lines:,} lines, {news.tokens:,} tokens are not routine{over}; "
        f"{news.new_kinds} new kinds of lines"
    )
    for example in news.examples:
        page.quote("new", example, faint=True)
    for fault in news.faults:
        page.prose(f"{fault.cause}? {fault.says}:", indent=2)
        page.quote(f"line {fault.line.number}", fault.line.raw)
    if news.ending:
        page.prose("the job says how it ended:", indent=2)
        page.quote(f"line {news.ending.number}", news.ending.raw)


def _span(seconds: float) -> str:
    return f"{seconds:g} seconds without a line"


@contextmanager
def _interrupted(following: Following) -> Iterator[None]:
    """Let the first Ctrl-C end the reading, and the next one the program."""

    def stop(_number: int, _frame: object) -> None:
        following.stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
