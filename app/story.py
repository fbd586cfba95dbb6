"""Logs with their right answers: one form for the fixtures, the command line and the tests.

A story is `<story>.log` with a `<story>.yaml` beside it, or, where a job wrote several files, a
folder `<story>/` with a `story.yaml` among them. It tells besides the cause what a person would
point at, and what its answer rests on, so that a test may know when it takes that away.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from app.errors import UsageError
from app.model import Action

Lines = tuple[int, ...] | Mapping[str, tuple[int, ...]]
Aspect = Literal["verdict", "evidence", "present", "suspect", "attempts", "keeps", "proof"]
Ground = Literal["ranks", "clock", "order"]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=10)]


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
    compression. `open` names what is known to be wrong still, and why. `rests_on` names what the
    answer cannot be told without (which rank printed a line, when, in what order), and why.
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
    open: Mapping[Aspect, Reason] = {}
    rests_on: Mapping[Ground, Reason] = {}


@dataclass(frozen=True)
class Story:
    """One labelled log."""

    name: str
    log: Path
    right: Answer = field(hash=False)  # it holds mappings

    def files(self) -> list[Path]:
        """The files of the log."""
        if self.log.is_file():
            return [self.log]
        return [path for path in sorted(self.log.iterdir()) if path.suffix == ".log"]

    def places(self, lines: Lines) -> set[tuple[str, int]]:
        """Spell lines out as file and number, as an answer names them."""
        by_file = lines if isinstance(lines, Mapping) else {self.log.name: lines}
        return {(name, number) for name, numbers in by_file.items() for number in numbers}


def written(answer: Answer) -> str:
    """Write an answer as a person would, without what it leaves open."""
    told = answer.model_dump(mode="json", exclude_unset=True)
    return yaml.safe_dump(
        told, sort_keys=False, allow_unicode=True, default_flow_style=None, width=1000
    )


def read_stories(root: Path) -> tuple[Story, ...]:
    """Read all stories below a folder; raise UsageError with every fault of their forms."""
    if not root.is_dir():
        raise UsageError(f"{root}: no such folder")
    found: list[Story] = []
    faults: list[str] = []
    for path in _answers(root):
        try:
            found.append(_story(root, path))
        except UsageError as error:
            faults.append(str(error))
    if faults:
        raise UsageError("\n".join(faults))
    return tuple(found)


def _answers(root: Path) -> Iterator[Path]:
    """Find the answers; what else lies in the folder of a job with several files is its log."""
    told = sorted(root.rglob("*.yaml"))
    folders = {path.parent for path in told if path.name == "story.yaml"}
    yield from (p for p in told if p.name == "story.yaml" or p.parent not in folders)


def _story(root: Path, path: Path) -> Story:
    log = path.parent if path.name == "story.yaml" else path.with_suffix(".log")
    if not log.exists():
        raise UsageError(f"{path}: no {log.name} beside it")
    try:
        right = Answer.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    except ValidationError as error:
        raise UsageError("\n".join(_told(path, error))) from error
    return Story(str(log.relative_to(root).with_suffix("")), log, right)


def _told(path: Path, error: ValidationError) -> Iterator[str]:
    for item in error.errors():
        place = ".".join(map(str, item["loc"]))
        yield f"{path}: {place + ': ' if place else ''}{item['msg']}"
