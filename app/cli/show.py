"""A diagnosis on a terminal: the verdict, the evidence, who explains whom, the plan."""

from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from app.model import Diagnosis, Suspect, Verdict

_COLOUR = {"high": "bold green", "medium": "bold yellow", "low": "bold red"}


def show(found: Diagnosis) -> None:
    """Print the answer for a person."""
    console = Console(highlight=False, soft_wrap=True)
    verdict = found.verdict
    primary = verdict.primary
    head = Text.assemble(
        (primary.cause, "bold"),
        f"  ({primary.domain}; ",
        (f"confidence {primary.confidence}", _COLOUR[primary.confidence]),
        ")",
    )
    console.print(head)
    console.print(Text(primary.summary))
    _list(console, "Suspects", map(_suspect, verdict.suspects))
    _list(
        console, "Evidence", (f"{e.file}:{e.line}: {e.text}\n  {e.why}" for e in verdict.evidence)
    )
    _list(console, "Explained", _explained(verdict))
    _list(
        console,
        "Not explained",
        (
            f"{r.cause} ({r.strength}, {r.count}x, {r.file}:{r.first_line})"
            for r in verdict.other_roots
        ),
    )
    _list(
        console,
        "Earlier attempts",
        (
            f"{a.number}: lines {a.lines[0]}-{a.lines[1]} of {a.file}: {a.cause}"
            for a in found.attempts
        ),
    )
    restart = "restart: yes" if found.plan.restart else "restart: no"
    steps = [f"{n}. {step}" for n, step in enumerate(found.plan.steps, 1)]
    _list(console, f"Plan: {found.plan.action} ({restart})", steps)
    _list(console, "Commands (not run)", found.plan.commands)
    _list(console, "Remarks", verdict.remarks)
    log = found.log
    console.print(
        Text(
            f"{log.lines} lines, {log.bytes} bytes read in {log.seconds} s; "
            f"{log.kept_lines} lines kept, {log.templates} kinds",
            "dim",
        )
    )


def _list(console: Console, title: str, items: Iterable[str]) -> None:
    items = list(items)
    if items:
        console.print()
        console.print(Text(title, "bold"))
        for item in items:
            console.print(Padding(Text(item), (0, 0, 0, 2)))


def _suspect(suspect: Suspect) -> str:
    known = [
        f"{name} {value}"
        for name, value in (
            ("host", suspect.host),
            ("rank", suspect.rank),
            ("GPU", suspect.gpu),
            ("NIC", suspect.nic),
        )
        if value is not None
    ]
    return f"{', '.join(known)}: {suspect.why}"


def _explained(verdict: Verdict) -> Iterable[str]:
    for item in verdict.explained:
        times = f"{item.count}x, " if item.count > 1 else ""
        yield f"{item.cause} ({times}{item.file}:{item.first_line}) by {item.by} ({item.edge})"
