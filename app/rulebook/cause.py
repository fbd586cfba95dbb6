"""The form of a cause: what it means, what it explains, what to do about it."""

from typing import Literal

from pydantic import Field

from app.model import Action
from app.rulebook.form import CauseName, Form, Lines, Name, Sentence

Scope = Literal["same_rank", "same_host", "other_ranks", "job"]


class Edge(Form):
    """One thing that a cause or signal explains, and among which ranks that holds."""

    of: CauseName | Name
    scope: Scope = "job"


class Explains(Form):
    """`always` holds in any order of lines, `if_earlier` only for what comes later."""

    always: tuple[CauseName | Name | Edge, ...] = ()
    if_earlier: tuple[CauseName | Name | Edge, ...] = ()


class Recovery(Form):
    """What a person does about it; `{facts}` in a step are filled from the signal."""

    action: Action
    steps: Lines


class Example(Form):
    """A short log and the cause that it must be given."""

    name: Sentence
    primary: CauseName
    log: str


class CauseForm(Form):
    """One file of `rules/causes/<domain>/`; its name is the cause."""

    title: Sentence
    status: Literal["draft", "stable", "retired"] = "stable"
    summary: Sentence
    explains: Explains = Explains()
    recovery: Recovery
    references: Lines = ()
    examples: tuple[Example, ...] = ()


class DomainForm(Form):
    """`_domain.yaml`: what the causes of a folder share."""

    title: Sentence
    summary: Sentence
    explains: Explains = Explains()


class Cause(CauseForm):
    """A cause with its name, its domain and the edges that its domain gives it."""

    name: CauseName
    domain: str = Field(description="the folder that holds the file")
