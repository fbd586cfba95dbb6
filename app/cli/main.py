"""The command line: `firstfault diagnose | compress | serve | rules`.

Exit status: 0 with any verdict, 2 for wrong usage or unreadable input (one line on stderr), 1 for
a failure of our own.
"""

import sys

import typer

from app.cli.diagnose import compress, diagnose
from app.cli.rules import rules
from app.errors import FirstFaultError

app = typer.Typer(
    name="firstfault",
    help="Name the first fault that killed a training job, from its logs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(diagnose)
app.command()(compress)
app.add_typer(rules, name="rules")


@app.command()
def serve(
    host: str | None = typer.Option(None, help="Address to listen on; the setting HOST otherwise."),
    port: int | None = typer.Option(None, help="Port; 0 takes a free one."),
) -> None:
    """Run the HTTP service."""
    from app.cli.serve import serve as run  # the web stack takes half a second to import

    run(host=host, port=port)


def main() -> None:
    """Run a command; turn our own errors into one line and an exit status."""
    try:
        app(standalone_mode=True)
    except FirstFaultError as error:
        print(f"firstfault: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
