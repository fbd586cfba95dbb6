"""The command line: `firstfault diagnose | compress | serve | rules | memory | fixtures`.

Exit status: 0 with any verdict, 2 for wrong usage or unreadable input (one line on stderr), 1 for
a failure of our own or an answer that nobody reads, 130 after Ctrl-C.
"""

import gc
import os
import sys

import typer

from app.cli.page import printable
from app.errors import FirstFaultError

_INTERRUPTED = 130  # what shells give for a program that SIGINT ended


def main() -> None:
    """Run a command; turn what is wrong with its input into one line and an exit status."""
    gc.disable()  # what modules make stays until the end; to look for garbage in it takes 0.05 s
    from app.cli.commands import app

    gc.freeze()
    gc.enable()
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
    told = "\n".join(map(printable, why.split("\n")))
    if "\n" in told:  # faults of rules: each on its own line, so that editors find its place
        told = f"several faults:\n{told}"
    print(f"firstfault: {told}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
