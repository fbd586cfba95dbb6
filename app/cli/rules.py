"""`firstfault rules …`: check, list, graph, try, new; decide on rules that a model wrote."""

import re
from pathlib import Path
from typing import Annotated

import typer

from app.cli.configured import configured
from app.cli.page import printable
from app.cli.proposals import approve, export, proposals, reject, withdraw
from app.cli.rulebook import compiled_rules
from app.errors import UsageError
from app.rulebook.load import load
from app.rulebook.rulebook import OUTCOMES, Rulebook

_CAUSE = re.compile("[A-Z][A-Za-z0-9]*")
rules = typer.Typer(help="Look after the rules.")
for decide in (proposals, approve, reject, withdraw, export):
    rules.command()(decide)


@rules.command()
def check() -> None:
    """Check all rule files; every fault is shown at once, with its file and line."""
    settings = configured()
    book = load(settings.rules_dir, learned=settings.learned_dir)
    print(
        f"{len(book.causes)} causes, {len(book.signals)} signals, {len(book.benign)} benign, "
        f"{len(book.filters)} filters, {len(book.marks)} marks: no fault"
    )


@rules.command(name="list")
def list_causes(
    markdown: Annotated[bool, typer.Option("--markdown", help="As a table for a page.")] = False,
) -> None:
    """List all causes with their action and the number of their signals."""
    book = _book()
    causes = sorted(book.causes.values(), key=lambda cause: (cause.domain, cause.name))
    if markdown:
        print(causes_table(book))
        return
    for cause in causes:
        own = sum(signal.cause == cause.name for signal in book.signals)
        print(
            f"{cause.domain:15} {cause.name:20} {own:4} signals  "
            f"{cause.recovery.action:18} {cause.title}"
        )


def causes_table(book: Rulebook) -> str:
    """Write all causes as a Markdown table, by domain."""
    rows = ["| domain | cause | action | what happened |", "| --- | --- | --- | --- |"]
    for cause in sorted(book.causes.values(), key=lambda cause: (cause.domain, cause.name)):
        rows.append(
            f"| {cause.domain} | `{cause.name}` | `{cause.recovery.action}` | {cause.title} |"
        )
    return "\n".join(rows)


@rules.command()
def graph(
    svg: Annotated[
        Path | None, typer.Option(help="Draw it into this file instead, to open in a browser.")
    ] = None,
) -> None:
    """Show who explains whom, as text; ~ marks edges that hold only for what comes later."""
    book = _book()
    if svg:
        from app.cli.graph_svg import drawn  # an XML library, which no other command needs

        try:
            svg.write_text(drawn(book), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{svg}: cannot be written: {error.strerror or error}") from error
        return
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
    rule_and_log: Annotated[
        list[str],
        typer.Argument(
            metavar="[RULE] LOG",
            help="A cause, signal, mark, benign line or filter, if any; a log file or folder.",
        ),
    ],
) -> None:
    """Show how a log is judged and why, and what a rule meets in it."""
    from app.cli.trial import attempt  # reads the log, so it needs the pipeline

    if len(rule_and_log) > 2:
        raise UsageError("say one rule, or none, and one log")
    rule = rule_and_log[0] if len(rule_and_log) == 2 else None
    for line in attempt(rule, Path(rule_and_log[-1]), compiled_rules()):
        print(printable(line))


@rules.command()
def new(
    cause: Annotated[str, typer.Argument(help="Where it belongs, e.g. infrastructure/FanError.")],
) -> None:
    """Write the form of a new cause, to be filled in."""
    domain, _, name = cause.partition("/")
    causes = configured().rules_dir / "causes"
    known = sorted(path.name for path in causes.glob("*") if path.is_dir())
    if domain not in known:
        raise UsageError(f"{cause}: say <domain>/<Cause>, with a domain of {', '.join(known)}")
    if not _CAUSE.fullmatch(name):
        raise UsageError(f"{cause}: a cause is named in CamelCase, as NVLinkError is")
    same = [*causes.glob(f"*/{name}.yaml")]
    if same or name in OUTCOMES:
        raise UsageError(f"{name} is there already{f': {same[0]}' if same else ''}")
    path = causes / domain / f"{name}.yaml"
    try:
        path.write_text(_FORM)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
    print(f"{path}: fill it in, give it a signal in rules/signals/, then `firstfault rules check`")


def _book() -> Rulebook:
    settings = configured()
    return load(settings.rules_dir, settings.cache_dir, settings.learned_dir)


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
