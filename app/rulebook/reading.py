"""One pass over the rule files: each into its form, and what is wrong with it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from app.errors import RuleError
from app.rulebook.cause import Cause, CauseForm, DomainForm
from app.rulebook.form import CAUSE_NAME, NAME, Form
from app.rulebook.lines import BenignFile, BenignForm, Filter, FilterForm, MarkFile, MarkForm
from app.rulebook.places import Document, read
from app.rulebook.rulebook import OUTCOMES
from app.rulebook.signal import Signal, SignalFile
from app.rulebook.wording import in_words

_F = TypeVar("_F", bound=Form)
_Named = TypeVar("_Named", BenignForm, MarkForm, Signal)
_SHAPE = "causes/<domain>/<Cause>.yaml or signals|benign|filters|marks/<name>.yaml"


@dataclass(frozen=True, slots=True)
class Placed(Generic[_F]):
    """A rule, and where it is written."""

    rule: _F
    document: Document
    at: tuple[int | str, ...] = ()

    def fault(self, at: Sequence[int | str], text: str) -> RuleError:
        """Build the error for a part of the rule."""
        return self.document.fault((*self.at, *at), text)


@dataclass(frozen=True, slots=True)
class Spoken:
    """The name of a cause in a signal that cannot be read."""

    cause: str
    document: Document
    at: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule file, and its place below the folder of rules that holds it."""

    path: Path
    parts: tuple[str, ...]


class Reading:
    """The rules of all files and all their faults, but for those between files.

    `claimed` holds the names of rules that could not be read, so that nobody who speaks of them
    is blamed for it; `illegible` says that a file did not even give its names. `spoken` holds the
    causes that broken signals point at.
    """

    def __init__(self, files: Iterable[RuleFile]) -> None:
        self.faults: list[RuleError] = []
        self.domains: dict[str, Placed[DomainForm]] = {}
        self.causes: dict[str, Placed[Cause]] = {}
        self.signals: dict[str, Placed[Signal]] = {}
        self.benign: list[BenignForm] = []
        self.filters: list[Filter] = []
        self.marks: list[MarkForm] = []
        self.claimed: set[str] = set()
        self.spoken: list[Spoken] = []
        self.illegible = False
        self._named: dict[str, RuleError] = {}
        for file in files:
            try:
                self._take(self._read(file.path, file.parts), file.parts)
            except RuleError as fault:
                self.faults.append(fault)

    def _read(self, path: Path, parts: Sequence[str]) -> Document:
        if parts[0] == "causes":
            self.claimed.add(path.stem)
        try:
            document = read(path)
        except RuleError:
            self.illegible = self.illegible or parts[0] == "signals"
            raise
        self.faults += document.repeated
        return document

    def _take(self, document: Document, parts: Sequence[str]) -> None:
        *above, file = parts
        kind, *folders = above or [""]
        name, _, suffix = file.rpartition(".")
        if suffix != "yaml" or len(folders) != (kind == "causes"):
            raise document.fault((), f"a rule file belongs to {_SHAPE}")
        match kind:
            case "causes" if name == "_domain":
                domain = self._form(document, DomainForm)
                self.domains[folders[0]] = Placed(domain, document)
            case "causes":
                self._take_cause(document, folders[0], name)
            case "signals":
                self._take_signals(document, name)
            case "benign":
                for index, benign in enumerate(self._form(document, BenignFile).lines):
                    self.benign.append(self._proven(Placed(benign, document, ("lines", index))))
            case "marks":
                for index, mark in enumerate(self._form(document, MarkFile).marks):
                    self.marks.append(self._proven(Placed(mark, document, ("marks", index))))
            case "filters":
                self._take_filter(document, name)
            case _:
                raise document.fault((), f"a rule file belongs to {_SHAPE}")

    def _take_cause(self, document: Document, domain: str, name: str) -> None:
        if not re.match(CAUSE_NAME, name):
            raise document.fault((), "a cause's file bears its name, in CamelCase as NVLinkError")
        if name in OUTCOMES:
            raise document.fault(
                (), f"{name} is what the judge says where no cause is, and no rule"
            )
        form = self._form(document, CauseForm)
        if name in self.causes:
            other = self.causes[name].document.path
            raise document.fault((), f"the cause {name} is defined by {other} already")
        cause = Cause(**dict(form), name=name, domain=domain)
        self.causes[name] = Placed(cause, document)

    def _take_signals(self, document: Document, emitter: str) -> None:
        self.claimed.update(_names_in(document))
        try:
            file = self._form(document, SignalFile)
        except RuleError:
            self._take_the_sound_ones(document, emitter)
            raise
        for index, form in enumerate(file.signals):
            shared = {
                "despite": tuple(dict.fromkeys((*file.despite, *form.despite))),
                "general": file.general if form.general is None else form.general,
            }
            signal = Signal(**(dict(form) | shared), emitter=emitter)
            placed = Placed(signal, document, ("signals", index))
            self.signals.setdefault(signal.name, placed)
            self._proven(placed)

    def _take_the_sound_ones(self, document: Document, emitter: str) -> None:
        """Of a file with faults read what can be read, so that faults between files show too."""
        for index, item in _signals_in(document):
            at = ("signals", index)
            try:
                signal = Signal.model_validate({**item, "emitter": emitter})
            except ValidationError:
                cause = item.get("cause")
                if isinstance(cause, str) and re.match(CAUSE_NAME, cause):
                    self.spoken.append(Spoken(cause, document, (*at, "cause")))
                continue
            self.signals.setdefault(signal.name, Placed(signal, document, at))

    def _take_filter(self, document: Document, name: str) -> None:
        if not re.match(NAME, name):
            raise document.fault((), "a filter's file bears its name, in snake_case")
        form = self._form(document, FilterForm)
        if not form.hits or not form.misses:
            self.faults.append(document.fault((), "give at least one hit and one miss"))
        self.filters.append(Filter(**dict(form), name=name))

    def _proven(self, placed: Placed[_Named]) -> _Named:
        """Ask for a name of its own, a hit and a miss."""
        rule = placed.rule
        here = placed.fault((), rule.name)
        known = self._named.setdefault(rule.name, here)
        if known is not here:
            text = f"the name {rule.name} is taken by {known.path}:{known.line}"
            self.faults.append(placed.fault((), text))
        if not rule.hits or not rule.misses:
            self.faults.append(placed.fault((), f"{rule.name}: give at least one hit and one miss"))
        return rule

    def _form(self, document: Document, form: type[_F]) -> _F:
        """Validate; every fault of the file is kept, and the last one ends its reading."""
        try:
            return form.model_validate(document.value)
        except ValidationError as error:
            *faults, last = (document.fault(at, text) for at, text in in_words(error.errors()))
            self.faults += faults
            raise last from error


def _names_in(document: Document) -> set[str]:
    """The names of signals in a file, however wrong the rest of it is."""
    return {str(item["name"]) for _, item in _signals_in(document) if "name" in item}


def _signals_in(document: Document) -> Iterator[tuple[int, dict[str, object]]]:
    value = document.value
    signals = value.get("signals") if isinstance(value, dict) else None
    for index, item in enumerate(signals if isinstance(signals, list) else ()):
        if isinstance(item, dict):
            yield index, item
