"""Prompts as data: loaded from YAML, checked, and filled with the values of one question.

A prompt file names its variables twice, in `needs` and as `$name` in its text, and a difference is
a fault with file and line. There is no logic in prompts. The system part has no variables and the
fixed text goes first, so that an endpoint can keep it.

What is filled in is data unless it says otherwise: it stands between two lines that bear a mark
drawn for this question alone. A text that holds the mark cannot be made beforehand, and one that
holds it by chance has another one drawn, so no line of a log can end its own fence.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from app.errors import RulebookError, RuleError
from app.reason.forms import FORMS, OF_PROMPT, Reply
from app.rulebook.form import Form, Name, Sentence
from app.rulebook.places import Document, read
from app.rulebook.wording import in_words, meant

_VARIABLE = re.compile(r"\$([a-z][a-z0-9_]*)?")
_Text = Annotated[str, StringConstraints(min_length=20)]


class Budget(Form):
    """How long the reply may be, and how freely it is drawn."""

    reply_tokens: int = Field(ge=16, le=32_000)
    temperature: float = Field(ge=0, le=2)


class PromptForm(Form):
    """One file of `prompts/`."""

    title: Sentence
    summary: Sentence
    version: int = Field(ge=1)
    needs: tuple[Name, ...]
    answers: str
    budget: Budget
    system: _Text
    prompt: _Text


class Trusted(str):
    """A value of our own making, such as the list of causes: it is filled in without a fence."""


@dataclass(frozen=True, slots=True)
class Messages:
    """A filled prompt: the fixed part and the part that varies."""

    system: str
    prompt: str


@dataclass(frozen=True)
class Prompt:
    """A prompt, and where it is written."""

    name: str
    form: PromptForm
    document: Document

    @property
    def answers(self) -> type[Reply]:
        """The form of the reply."""
        return FORMS[self.form.answers]

    def fill(
        self, values: Mapping[str, str], draw: Callable[[], str] = lambda: secrets.token_hex(8)
    ) -> Messages:
        """Put in the values; raise RuleError for one that is missing or that nobody asked for."""
        for name in values:
            if name not in self.form.needs:
                raise self.document.fault(("needs",), f"a value for ${name}, which is not needed")
        for index, name in enumerate(self.form.needs):
            if name not in values:
                raise self.document.fault(("needs", index), f"the value of ${name} is missing")
        mark = draw()
        while any(mark in value for value in values.values()):
            mark = draw()

        def value_of(found: re.Match[str]) -> str:
            value = values[found[1]]
            return value if isinstance(value, Trusted) else _fenced(found[1], value, mark)

        text = _VARIABLE.sub(value_of, self.form.prompt)
        return Messages(self.form.system, text)


class Prompts:
    """All prompts of a folder; `fingerprint` changes with any of them."""

    def __init__(self, folder: Path) -> None:
        """Read the folder; raise RulebookError with every fault in it."""
        faults: list[RuleError] = []
        self._prompts: dict[str, Prompt] = {}
        content = hashlib.sha256()
        paths = sorted(folder.glob("*.yaml"))
        for path in paths:
            try:
                prompt = _read(path, faults)
            except RuleError as fault:
                faults.append(fault)
                continue
            self._prompts[prompt.name] = prompt
            content.update(f"{prompt.name}\n{prompt.form.model_dump_json()}\n".encode())
        if not paths:
            faults.append(RuleError(folder, 1, "no prompts here (FIRSTFAULT_PROMPTS_DIR)"))
        if faults:
            raise RulebookError(faults)
        self._folder = folder
        self.fingerprint = f"sha256:{content.hexdigest()[:16]}"

    def __getitem__(self, name: str) -> Prompt:
        """Give a prompt by the name of its file; raise RulebookError where it is missing."""
        if name not in self._prompts:
            path = self._folder / f"{name}.yaml"
            raise RulebookError([RuleError(path, 1, "this prompt is missing")])
        return self._prompts[name]

    def __iter__(self) -> Iterator[Prompt]:
        """Go through all prompts by name."""
        return iter(self._prompts.values())


def _read(path: Path, faults: list[RuleError]) -> Prompt:
    """Read one file; faults that do not keep it from being read are added to the list."""
    document = read(path)
    faults += document.repeated
    try:
        form = PromptForm.model_validate(document.value)
    except ValidationError as error:
        *others, last = (document.fault(at, told) for at, told in in_words(error.errors()))
        faults += others
        raise last from error
    faults += _faults(path.stem, form, document)
    return Prompt(path.stem, form, document)


def _faults(name_of_file: str, form: PromptForm, document: Document) -> Iterator[RuleError]:
    wanted = OF_PROMPT.get(name_of_file)
    if form.answers not in FORMS:
        told = f"no form is called {form.answers}{meant(form.answers, list(FORMS))}"
        yield document.fault(("answers",), told)
    elif wanted is not None and form.answers != wanted.__name__:
        yield document.fault(("answers",), f"{name_of_file} is answered by {wanted.__name__}")
    used: set[str] = set()
    for part, text in (("system", form.system), ("prompt", form.prompt)):
        for found in _VARIABLE.finditer(text):
            line = document.line((part,)) + 1 + text.count("\n", 0, found.start())
            name = found[1]
            if not name:
                yield RuleError(document.path, line, "a `$` must be followed by a variable's name")
            elif part == "system":
                yield RuleError(document.path, line, f"${name}: the system part has no variables")
            elif name not in form.needs:
                told = f"${name} is not in `needs`{meant(name, form.needs)}"
                yield RuleError(document.path, line, told)
            used.add(name or "")
    for index, name in enumerate(form.needs):
        if name not in used:
            yield document.fault(
                ("needs", index), f"{name} is needed, but `${name}` stands nowhere"
            )


def _fenced(name: str, text: str, mark: str) -> str:
    ended = text if text.endswith("\n") or not text else f"{text}\n"
    return f"[[{name} {mark}]]\n{ended}[[end {mark}]]"
