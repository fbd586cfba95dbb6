"""All commands of `firstfault`, put together."""

from typing import Annotated

import typer

from app.cli.diagnose import compress, diagnose
from app.cli.doctor import doctor
from app.cli.fake_model import fake_model
from app.cli.feedback import feedback
from app.cli.filters import filters
from app.cli.fixtures import fixtures
from app.cli.memory import memory
from app.cli.reclassify import reclassify
from app.cli.rules import rules
from app.cli.senders import senders

app = typer.Typer(
    name="firstfault",
    help="Name the first fault that killed a training job, from its logs.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(diagnose)
app.command()(compress)
app.command()(reclassify)
app.command()(doctor)
app.command()(feedback)
app.command("fake-model")(fake_model)
app.add_typer(rules, name="rules")
app.add_typer(memory, name="memory")
app.add_typer(filters, name="filters")
app.add_typer(fixtures, name="fixtures")
app.add_typer(senders, name="senders")


def _tell_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # most commands do not need it

        print(f"firstfault {version('firstfault')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Tell the version.", callback=_tell_version, is_eager=True),
    ] = False,
) -> None:
    """Take what is said before any command."""


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
