"""All lines that are known to be evidence: no filter that a model writes may meet one of them."""

from collections.abc import Iterator
from pathlib import Path

from app.reason.gates import Evidence
from app.rulebook.lines import MarkForm
from app.rulebook.rulebook import Rulebook
from app.rulebook.signal import Signal
from app.story import Story, read_stories

_SHORTEST = 4  # characters; a `}` is kept for the sake of its neighbours


def evidence_of_rules(rulebook: Rulebook) -> Iterator[Evidence]:
    """Give the example lines of all signals and marks."""
    rules: tuple[Signal | MarkForm, ...] = (*rulebook.signals, *rulebook.marks)
    for rule in rules:
        for text in rule.hits:
            for line in text.splitlines():
                if len(line.strip()) >= _SHORTEST:
                    yield Evidence(line, rule.name)


def evidence_of_stories(folder: Path) -> Iterator[Evidence]:
    """Give what a person would point at in labelled logs, and what must be kept of them."""
    if folder.is_dir():
        for story in read_stories(folder):
            yield from _of_story(story)


def _of_story(story: Story) -> Iterator[Evidence]:
    places = story.places(story.right.evidence) | story.places(story.right.keeps)
    for file in story.files():
        numbers = {number for name, number in places if name == file.name}
        if not numbers:
            continue
        with file.open(encoding="utf-8", errors="replace", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                if number in numbers and len(line.strip()) >= _SHORTEST:
                    yield Evidence(line.rstrip("\r\n"), story.name)
