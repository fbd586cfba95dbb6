"""The command line: `firstfault diagnose | compress | serve | rules | fixtures`.

Exit status: 0 with any verdict, 2 for wrong usage or unreadable input (one line on stderr), 1 for
a failure of our own or an answer that nobody reads, 130 after Ctrl-C.
"""

import os
import sys
from typing import Annotated

import typer

from app.cli.diagnose import compress, diagnose
from app.cli.fixtures import fixtures
from app.cli.rules import rules
from app.errors import FirstFaultError

_INTERRUPTED = 130  # what shells give for a program that SIGINT ended

app = typer.Typer(
    name="firstfault",
    help="Name the first fault that killed a training job, from its logs.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(diagnose)
app.command()(compress)
app.add_typer(rules, name="rules")
app.add_typer(fixtures, name="fixtures")


@app.command()
def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; the setting HOST otherwise.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port, 0 for a free one; the setting PORT otherwise.")
    ] = None,
) -> None:
    """Run the HTTP service."""
    from app.cli.serve import serve as run  # the web stack takes half a second to import

    run(host=host, port=port)


def main() -> None:
    """Run a command; turn what is wrong with its input into one line and an exit status."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # never None here
    try:
        status = app(sys.argv[1:] or ["--help"], "firstfault", standalone_mode=False)
        sys.stdout.flush()
    except FirstFaultError as error:
        status = _refused(str(error), error.exit_code)
    except typer.TyperException as error:
        status = _refused(f"{error.format_message()} (`--help` tells more)", 2)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except KeyboardInterrupt:
        status = _INTERRUPTED
    sys.exit(status)


def _refused(why: str, status: int) -> int:
    if "\n" in why:  # faults of rules: each on its own line, so that editors find its place
        why = f"several faults:\n{why}"
    print(f"firstfault: {why}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
