"""What does not change why a job failed must not change the verdict either."""

from collections.abc import Iterable
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random

import pytest

from app.pipeline import diagnose
from app.rulebook.compiled import Compiled
from app.story import Story
from tests.labelled import stories
from tests.perturb.perturbations import PERTURBATIONS, Lines, Material, Perturbation

_MOST_CHANGED = 0.02


class Renamed(BytesIO):
    """A changed copy of a file, under its name: that may tell a rank, a host or an attempt."""

    def __init__(self, name: str, lines: Lines) -> None:
        super().__init__("\n".join(lines).encode("utf-8", "surrogateescape"))
        self.name = name


@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=lambda perturbation: perturbation.name)
def test_at_most_one_verdict_in_fifty_changes_when(
    perturbation: Perturbation, compiled: Compiled
) -> None:
    tried = [story for story in _right_ones(compiled) if not _takes_away(perturbation, story)]
    turns = range(perturbation.turns)
    changed = [
        f"{story.name}: {after}"
        for story in tried
        for turn in turns
        if (after := _changed(story, perturbation, turn, compiled)) != story.right.primary
    ]
    print(f"\n{perturbation.name}: {len(changed)} of {len(tried) * len(turns)} changed", *changed)
    assert len(changed) <= _MOST_CHANGED * len(tried) * len(turns), "\n".join(changed)


def _takes_away(perturbation: Perturbation, story: Story) -> bool:
    return bool(perturbation.takes & set(story.right.rests_on))


@cache
def _right_ones(compiled: Compiled) -> list[Story]:
    """The stories whose verdict is right as they are; others say nothing of a change."""
    return [story for story in stories() if _verdict(story, compiled) == story.right.primary]


def _verdict(story: Story, compiled: Compiled) -> str:
    return _told([Renamed(path.name, _lines(path)) for path in story.files()], compiled)


def _changed(story: Story, perturbation: Perturbation, turn: int, compiled: Compiled) -> str:
    def changed(path: Path) -> Lines:
        # the same for each file of a job
        chance = Random(f"{perturbation.name} {story.name} {turn}")
        return perturbation.change(_lines(path), chance, _material(compiled))

    return _told([Renamed(path.name, changed(path)) for path in story.files()], compiled)


def _told(files: list[Renamed], compiled: Compiled) -> str:
    return diagnose(list(files), compiled).verdict.primary.cause


@cache
def _lines(path: Path) -> Lines:
    return path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")


def _short(hits: Iterable[str]) -> Lines:
    return [hit for hit in hits if "\n" not in hit]


def _is_plain(story: Story) -> bool:
    """Leave out what cannot be moved in time."""
    return story.log.is_file() and not any("time_ms" in line for line in _lines(story.log))


@cache
def _material(compiled: Compiled) -> Material:
    book = compiled.rulebook
    context = [signal for signal in book.signals if signal.strength == "context"]
    plain = _short(hit for signal in context if not signal.window_before for hit in signal.hits)
    return Material(
        context=plain,
        notices=_short(hit for s in context if s.window_before for hit in s.hits),
        harmless=[*_short(hit for benign in book.benign for hit in benign.hits), *plain],
        finished=[
            _lines(story.log)
            for story in stories()
            if story.right.primary == "Completed" and _is_plain(story)
        ],
    )
