"""`firstfault fixtures check`: how well a folder of stories is answered, by domain."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from app.cli.page import printable
from app.cli.score import ALL, Row, Score, Share, rows, score
from app.errors import UsageError
from app.pipeline import diagnose
from app.rulebook.compiled import Compiled
from app.rulebook.rulebook import OUTCOMES
from app.story import Story, read_stories

_COLUMNS = ("coverage", "judging", "right", "actions", "suspects")


def scores_of(folder: Path, compiled: Compiled) -> list[Score]:
    """Diagnose every story; raises UsageError where there is none, or none that can be meant."""
    stories = read_stories(folder)
    if not stories:
        raise UsageError(f"{folder}: no story; a story is a .log with a .yaml of the same name")
    unknown = [
        f"{story.log}: no such cause: {story.right.primary}"
        for story in stories
        if story.right.primary not in {*compiled.rulebook.causes, *OUTCOMES}
    ]
    if unknown:
        raise UsageError("\n".join(unknown))
    return [
        score(story, diagnose([story.log], compiled), _domain(story, compiled)) for story in stories
    ]


def _domain(story: Story, compiled: Compiled) -> str:
    cause = compiled.rulebook.causes.get(story.right.primary)
    return cause.domain if cause else "outcome"


def as_json(scores: Sequence[Score]) -> str:
    """Write all as one JSON object; a share of nothing is null."""
    summed = {row.domain: _as_dict(row) for row in rows(scores)}
    told = {
        "all": summed.pop(ALL),
        "domains": summed,
        "stories": [{**asdict(one), "right": one.right} for one in scores],
    }
    return json.dumps(told, indent=1)


def _as_dict(row: Row) -> dict[str, object]:
    shares = {name: getattr(row, name) for name in _COLUMNS}
    return {
        "stories": row.stories,
        **{name: {**asdict(told), "share": told.share} for name, told in shares.items()},
        "harmful": row.harmful,
    }


def show(scores: Sequence[Score]) -> None:
    """Print what is wrong, story by story, then the table."""
    from rich.console import Console  # half the start of a diagnosis, which does not need it
    from rich.table import Table

    for one in scores:
        for fault in _faults(one):
            print(printable(f"{one.story}: {fault}"))
    table = Table(box=None, pad_edge=False)
    table.add_column("domain")
    for name in ("stories", *_COLUMNS, "harmful"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows(scores):
        if row.domain == ALL:
            table.add_section()
        cells = [_cell(getattr(row, name)) for name in _COLUMNS]
        table.add_row(row.domain, str(row.stories), *cells, str(row.harmful))
    width = None if sys.stdout.isatty() else 100
    Console(file=sys.stdout, width=width, highlight=False).print(table)


def _faults(one: Score) -> list[str]:
    told = []
    if not one.right:
        kind = "found, not chosen" if one.covered else "not found"
        told.append(f"{one.wanted} {kind}; the verdict is {one.said}")
    elif not one.action:
        told.append("the action is not the right one")
    if one.suspect is False:
        told.append("the suspect is not named")
    return [*told, *(f"harmful: {harm}" for harm in one.harm)]


def _cell(told: Share) -> str:
    return "-" if told.share is None else f"{told.count}/{told.of} {told.share:4.0%}"
