"""`firstfault rules …`: check, list, graph, try, new."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.rulebook import compiled_rules
from app.errors import UsageError
from app.rulebook.load import load
from app.rulebook.rulebook import Rulebook
from app.settings import Settings

rules = typer.Typer(help="Look after the rules.", no_args_is_help=True)


@rules.command()
def check() -> None:
    """Check all rule files; every fault is shown at once, with its file and line."""
    book = _book()
    print(
        f"{len(book.causes)} causes, {len(book.signals)} signals, {len(book.benign)} benign, "
        f"{len(book.filters)} filters, {len(book.marks)} marks: no fault"
    )


@rules.command(name="list")
def list_causes() -> None:
    """List all causes with their action and the number of their signals."""
    book = _book()
    for cause in sorted(book.causes.values(), key=lambda cause: (cause.domain, cause.name)):
        own = [signal for signal in book.signals if signal.cause == cause.name]
        print(
            f"{cause.domain:15} {cause.name:20} {len(own):4} signals  "
            f"{cause.recovery.action:18} {cause.title}"
        )


@rules.command()
def graph() -> None:
    """Show who explains whom, as text; ~ marks edges that hold only for what comes later."""
    book = _book()
    for name in sorted(book.causes):
        reach = book.relation.reach.get(name, {})
        targets = [
            target if link.kind == "always" else f"~{target}"
            for target, link in sorted(reach.items())
            if target in book.causes
        ]
        if targets:
            print(f"{name} → {' '.join(targets)}")


@rules.command(name="try")
def try_rule(
    rule: Annotated[str, typer.Argument(help="A cause, a signal, a mark or a filter.")],
    log: Annotated[str, typer.Argument(help="A log file.")],
) -> None:
    """Show what a rule meets in a log, the facts it takes, and what explains what."""
    from app.cli.trial import lines_met, relations  # reads the log, so it needs the pipeline

    compiled = compiled_rules()
    for line in lines_met(rule, Path(log), compiled):
        print(line)
    for line in relations(rule, Path(log), compiled):
        print(line)


@rules.command()
def new(
    cause: Annotated[str, typer.Argument(help="Where it belongs, e.g. infrastructure/FanError.")],
) -> None:
    """Write the form of a new cause, to be filled in."""
    domain, _, name = cause.partition("/")
    folder = Settings().rules_dir / "causes" / domain
    if not name or not folder.is_dir():
        known = sorted(path.name for path in folder.parent.iterdir() if path.is_dir())
        raise UsageError(f"{cause}: say <domain>/<Cause>, with a domain of {', '.join(known)}")
    if not name.isidentifier() or not name[0].isupper():
        raise UsageError(f"{name}: a cause is named in CamelCase, as NVLinkError is")
    path = folder / f"{name}.yaml"
    if path.exists():
        raise UsageError(f"{path}: exists")
    path.write_text(_FORM)
    print(f"{path}: fill it in, give it a signal in rules/signals/, then `firstfault rules check`")


def _book() -> Rulebook:
    return load(Settings().rules_dir)


_FORM = """\
title: What happened, as a sentence that a colleague would say
status: draft
summary: >
  What went wrong, how it shows, whether a restart helps.

explains:
  if_earlier: []

recovery:
  action: none      # restart cordon_and_restart fix_code fix_config fix_data rollback_and_skip
                    # wait_and_retry resubmit none
  steps:
    - What a tired person should type.

references: []

examples: []
"""
