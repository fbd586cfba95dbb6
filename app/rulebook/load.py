"""Read the rule folder: a rulebook, or every fault in it at once, each with its file and line."""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from app.errors import RulebookError, RuleError
from app.rulebook.cause import Cause, CauseForm, DomainForm, Edge, Explains
from app.rulebook.form import Form
from app.rulebook.lines import BenignFile, BenignForm, Filter, FilterForm, MarkFile, MarkForm
from app.rulebook.pattern import Pattern, parse
from app.rulebook.places import Document, read
from app.rulebook.relation import cycle
from app.rulebook.rulebook import OUTCOMES, Rulebook
from app.rulebook.signal import Signal, SignalFile

_FORMAT = 1  # raise when the cached form changes
_F = TypeVar("_F", bound=Form)


def load(folder: Path, cache: Path | None = None) -> Rulebook:
    """Load and check all rules; `cache` is a folder for what was derived from the same bytes.

    Raises RulebookError with every fault. A cache that cannot be read or written is not used.
    """
    fingerprint = content_hash(folder)
    kept = cache / f"rulebook-{_FORMAT}-{fingerprint[7:23]}.json" if cache else None
    if kept and kept.is_file():
        try:
            return Rulebook.model_validate_json(kept.read_bytes())
        except (ValidationError, OSError):
            pass
    rulebook = _Reading(folder, fingerprint).rulebook()
    if kept:
        write_whole(kept, rulebook.model_dump_json(exclude=_PROOF).encode())
    return rulebook


_PROOF = {
    part: {"__all__": {"hits", "misses", "examples"}}
    for part in ("causes", "signals", "benign", "filters", "marks")
}


def content_hash(folder: Path) -> str:
    """Hash the names and bytes of all rule files."""
    digest = hashlib.sha256()
    for path in _files(folder):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(folder)}\0{len(data)}\0".encode())
        digest.update(data)
    return f"sha256:{digest.hexdigest()}"


def write_whole(path: Path, data: bytes) -> None:
    """Write a cache file so that readers see all of it or none; give up silently if it cannot be.

    A cache that cannot be written costs time, never an answer.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
            part.write(data)
        os.replace(part.name, path)
    except OSError:
        return


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise RulebookError([RuleError(folder, 1, "no such folder of rules")])
    return sorted(folder.rglob("*.yaml"))


class _Reading:
    """One pass over the folder, collecting forms and faults."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder = folder
        self.fingerprint = fingerprint
        self.faults: list[RuleError] = []
        self.domains: dict[str, DomainForm] = {}
        self.causes: dict[str, tuple[Cause, Document]] = {}
        self.signals: dict[str, tuple[Signal, Document, int]] = {}
        self.benign: list[BenignForm] = []
        self.filters: list[Filter] = []
        self.marks: list[MarkForm] = []
        self.named: set[str] = set()

    def rulebook(self) -> Rulebook:
        for path in _files(self.folder):
            try:
                self._take(read(path))
            except RuleError as fault:
                self.faults.append(fault)
        self._check_names()
        if not self.causes and not self.faults:
            self.faults.append(RuleError(self.folder, 1, "no file under causes/"))
        if self.faults:
            raise RulebookError(sorted(self.faults, key=lambda f: (str(f.path), f.line)))
        book = Rulebook(
            fingerprint=self.fingerprint,
            domains=self.domains,
            causes={name: cause for name, (cause, _) in self.causes.items()},
            signals=tuple(signal for signal, _, _ in self.signals.values()),
            benign=tuple(self.benign),
            filters=tuple(self.filters),
            marks=tuple(self.marks),
            patterns=self._patterns(),
        )
        self._refuse_cycles(book)
        return book

    def _take(self, document: Document) -> None:
        kind, *middle = document.path.relative_to(self.folder).parts
        stem = document.path.stem
        if kind == "causes" and len(middle) == 2 and stem == "_domain":
            self.domains[middle[0]] = self._form(document, DomainForm)
        elif kind == "causes" and len(middle) == 2:
            form = self._form(document, CauseForm)
            if stem in self.causes or stem in OUTCOMES:
                self.faults.append(document.fault((), f"the cause {stem} is defined elsewhere"))
            fields = dict(form) | {"name": stem, "domain": middle[0]}
            self.causes[stem] = self._form(document, Cause, fields), document
        elif kind == "signals" and len(middle) == 1:
            self._take_signals(document, self._form(document, SignalFile))
        elif kind == "benign" and len(middle) == 1:
            lines = self._form(document, BenignFile).lines
            self.benign += self._proven(document, "lines", lines)
        elif kind == "marks" and len(middle) == 1:
            marks = self._form(document, MarkFile).marks
            self.marks += self._proven(document, "marks", marks)
        elif kind == "filters" and len(middle) == 1:
            filter_form = self._form(document, FilterForm)
            if not filter_form.hits or not filter_form.misses:
                self.faults.append(document.fault((), "give at least one hit and one miss"))
            fields = dict(filter_form) | {"name": stem}
            self.filters.append(self._form(document, Filter, fields))
        else:
            shape = "causes/<domain>/<Cause>.yaml or signals|benign|filters|marks/<name>.yaml"
            raise document.fault((), f"a rule file belongs to {shape}")

    def _take_signals(self, document: Document, file: SignalFile) -> None:
        emitter = document.path.stem
        for index, form in enumerate(self._proven(document, "signals", file.signals)):
            signal = Signal(**dict(form), emitter=emitter)
            self.signals[signal.name] = signal, document, index

    def _proven(self, document: Document, part: str, rules: Sequence[_F]) -> list[_F]:
        """Pass on rules that have a name of their own, a hit and a miss."""
        for index, rule in enumerate(rules):
            name = str(getattr(rule, "name", ""))
            if name in self.named:
                self.faults.append(document.fault((part, index), f"the name {name} is taken"))
            self.named.add(name)
            if not getattr(rule, "hits", ()) or not getattr(rule, "misses", ()):
                text = f"{name}: give at least one hit and one miss"
                self.faults.append(document.fault((part, index), text))
        return list(rules)

    def _form(self, document: Document, form: type[_F], fields: object = None) -> _F:
        """Validate; every fault of the file is kept, and the last one ends its reading."""
        try:
            return form.model_validate(document.value if fields is None else fields)
        except ValidationError as error:
            faults = [
                document.fault(item["loc"], f"{_where(item['loc'])}: {_plain(item['msg'])}")
                for item in error.errors()
            ]
            self.faults += faults[:-1]
            raise faults[-1] from error

    def _check_names(self) -> None:
        known = {*self.causes, *self.signals}
        for name, (cause, document) in self.causes.items():
            for at, target in _targets(cause.explains):
                self._must_know(document, ("explains", *at), target, known)
            for index, example in enumerate(cause.examples):
                at = ("examples", index, "primary")
                self._must_know(document, at, example.primary, {*self.causes, *OUTCOMES})
            del name
        for signal, document, index in self.signals.values():
            at = ("signals", index)
            self._must_know(document, (*at, "cause"), signal.cause, {*self.causes, "Unknown"})
            for place, target in _targets(signal.explains):
                self._must_know(document, (*at, "explains", *place), target, known)
            for target in signal.refines:
                self._must_know(document, (*at, "refines"), target, known)

    def _must_know(
        self, document: Document, at: Sequence[int | str], name: str, known: Iterable[str]
    ) -> None:
        if name not in known:
            near = get_close_matches(name, list(known), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.faults.append(document.fault(at, f"{name} is defined by no file{hint}"))

    def _refuse_cycles(self, book: Rulebook) -> None:
        members: dict[str, list[str]] = {}
        for signal in book.signals:
            members.setdefault(signal.cause, []).append(signal.name)
        circle = cycle(book.edges, members)
        if circle:
            culprit = next((name for name in circle if name in self.causes), None)
            path = self.causes[culprit][1].path if culprit else self.folder
            ring = " → ".join(circle)
            raise RulebookError([RuleError(path, 1, f"`always` edges form a circle: {ring}")])

    def _patterns(self) -> dict[str, Pattern]:
        sources: list[str] = []
        for signal, _, _ in self.signals.values():
            optional = (signal.message, signal.frames, signal.unless, signal.after)
            sources += [*signal.match, *(source for source in optional if source)]
        told: tuple[BenignForm | MarkForm, ...] = (*self.benign, *self.marks)
        for rule in told:
            sources += [*rule.match, *([rule.unless] if rule.unless else [])]
        for dropped in self.filters:
            sources += dropped.match
        return {source: parse(source) for source in dict.fromkeys(sources)}


def _targets(explains: Explains) -> Iterator[tuple[tuple[int | str, ...], str]]:
    for kind in ("always", "if_earlier"):
        for index, target in enumerate(getattr(explains, kind)):
            yield (kind, index), target.of if isinstance(target, Edge) else target


def _where(at: Sequence[int | str]) -> str:
    return ".".join(str(step) for step in at) or "the file"


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ")
