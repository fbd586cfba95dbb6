"""`firstfault rules proposals|approve|reject|withdraw|export`: the rules that a model wrote.

They are decided in the database, beside a running service if need be, which takes a decision up
within half a minute; the command line reads the folder that is written here.
"""

import getpass
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.configured import configured, has_database
from app.cli.page import Page, printable
from app.errors import UsageError
from app.settings import Settings

if TYPE_CHECKING:  # a database takes half a second to import, which other commands do not need
    from app.store.proposals import Proposal, Proposals, State

_MOST = 1000

Id = Annotated[str, typer.Argument(metavar="ID", help="As `rules proposals` shows it.")]
Note = Annotated[str, typer.Option(help="Why.")]
By = Annotated[
    str | None, typer.Option(help="Who decides.", show_default="the user of this machine")
]


def proposals(
    state: Annotated[
        Literal["proposed", "approved", "rejected", "withdrawn"] | None,
        typer.Option(help="Those in one state."),
    ] = None,
) -> None:
    """List the rules that a model wrote, with their gates and their use."""
    page = Page(sys.stdout)
    found = _proposals(configured()).page(state, None, _MOST)
    for one in found:
        page.line(page.marked(printable(one.written.name), "strong"), f" · {one.state} · {one.id}")
        page.prose(_told(one), indent=4)
        for line in one.written.text.splitlines():
            page.whole(printable(line), indent=4)
    if not found:
        page.prose("There are none.")


def approve(id: Id, by: By = None, note: Note = "") -> None:
    """Let a proposed rule count from the next log on."""
    _decide(id, "approved", by, note)


def reject(id: Id, by: By = None, note: Note = "") -> None:
    """Turn a proposed rule down."""
    _decide(id, "rejected", by, note)


def withdraw(id: Id, by: By = None, note: Note = "") -> None:
    """Take an approved rule back."""
    _decide(id, "withdrawn", by, note)


def export(
    into: Annotated[Path, typer.Argument(help="A folder of rules; signals/ below it is written.")],
) -> None:
    """Write the approved rules as rule files, to be reviewed and kept with the others."""
    approved = _proposals(configured()).approved()
    signals = into / "signals"
    try:
        signals.mkdir(parents=True, exist_ok=True)
        for name, text in approved.items():
            (signals / f"{name}.yaml").write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{signals}: cannot be written: {error.strerror}") from error
    print(f"{len(approved)} rules are in {signals}")


def _decide(id: str, state: "State", by: str | None, note: str) -> None:
    from app.learn.shelf import fill

    settings = configured()
    known = _proposals(settings, writes=True)
    if state == "approved":
        _check(known.find(id), known.approved(), settings)
    decided = known.decide(id, state, by or getpass.getuser(), note)
    fill(settings.rules_dir, settings.learned_dir, known.approved(), settings.cache_dir)
    print(f"{decided.written.name} is {decided.state}")


def _check(proposal: "Proposal", approved: Mapping[str, str], settings: Settings) -> None:
    from app.learn.shelf import unfitness

    written = proposal.written
    beside = {**approved, written.name: written.text}
    unfit = unfitness(settings.rules_dir, beside, settings.cache_dir)
    if written.name in unfit:
        raise UsageError(f"it does not fit the rules of now: {unfit[written.name]}")


def _proposals(settings: Settings, *, writes: bool = False) -> "Proposals":
    if not has_database(settings):
        raise UsageError("there is nothing: no service has run here (FIRSTFAULT_DATA_DIR)")
    from app.cli.database import opened
    from app.store.proposals import Proposals

    return Proposals(opened(settings, writes=writes))


def _told(one: "Proposal") -> str:
    day = datetime.fromtimestamp(one.created_at, UTC).date().isoformat()
    refused = [f"{gate.gate}: {gate.why}" for gate in one.written.gates if gate.why]
    gates = refused[0] if refused else f"passed {len(one.written.gates)} gates"
    decided = f"; {one.state} by {one.decided_by}" if one.decided_by else ""
    note = f" ({one.note})" if one.note and not refused else ""
    return printable(
        f"{one.written.cause}, by {one.written.model} on {day}; {gates}{decided}{note}; "
        f"{one.hits} hits"
    )
