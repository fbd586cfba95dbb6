"""A bar on the terminal for logs that take a while to read."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from app.pipeline import Progress

_PATIENCE_SECONDS = 0.5


@contextmanager
def bar(total: int | None) -> Iterator[Progress]:
    """Give what is to be told the bytes read so far; the bar appears after half a second."""
    started = time.monotonic()
    shown: list[Progress] = []
    with ExitStack() as stack:

        def told(done: int) -> None:
            if not shown and time.monotonic() - started > _PATIENCE_SECONDS:
                shown.append(stack.enter_context(_drawn(total)))
            for draw in shown:
                draw(done)

        yield told


@contextmanager
def _drawn(total: int | None) -> Iterator[Progress]:
    from rich.console import Console  # only for logs that are worth it
    from rich.progress import BarColumn, DownloadColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("reading", total=total)
        yield lambda done: drawn.update(task, completed=done)
