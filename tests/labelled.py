"""Logs with their right answers, as `fixtures/` keeps them.

A story is `fixtures/<Cause>/<story>.log` with a `.yaml` of the same name, or, where a job wrote
several files, a folder `<story>/` with a `story.yaml` among them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from app.model import Action

ROOT = Path(__file__).parent.parent / "fixtures"
Lines = tuple[int, ...] | Mapping[str, tuple[int, ...]]
Aspect = Literal["verdict", "evidence", "present", "suspect", "attempts", "keeps", "proof"]


class Place(BaseModel):
    """Where the fault sits; what the log does not tell is left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str | None = None
    rank: int | None = None
    gpu: str | None = None
    nic: str | None = None


class Answer(BaseModel):
    """The right answer; lines count from 1, with several files by file.

    `present` are causes that must be told, whatever else is; `keeps` are lines that must survive
    compression. `open` names what is known to be wrong still, and why.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    origin: str
    primary: str
    present: tuple[str, ...]
    evidence: Lines
    action: Action
    keeps: Lines = ()
    restart: bool | None = None
    suspect: Place | None = None
    attempts: tuple[str, ...] = ()
    open: Mapping[Aspect, str] = {}


@dataclass(frozen=True)
class Story:
    """One labelled log."""

    name: str
    log: Path
    right: Answer

    def files(self) -> list[Path]:
        """The files of the log."""
        if self.log.is_file():
            return [self.log]
        return [path for path in sorted(self.log.iterdir()) if path.suffix == ".log"]

    def places(self, lines: Lines) -> set[tuple[str, int]]:
        """Spell lines out as file and number, as an answer names them."""
        by_file = lines if isinstance(lines, Mapping) else {self.log.name: lines}
        return {(name, number) for name, numbers in by_file.items() for number in numbers}


@cache
def stories() -> tuple[Story, ...]:
    """Read all of them."""
    found = [*ROOT.glob("*/*.yaml"), *ROOT.glob("*/*/story.yaml")]
    return tuple(_story(path) for path in sorted(found))


def _story(path: Path) -> Story:
    log = path.parent if path.name == "story.yaml" else path.with_suffix(".log")
    right = Answer.model_validate(yaml.safe_load(path.read_text()))
    return Story(str(log.relative_to(ROOT).with_suffix("")), log, right)
