"""The form of a cause: what it means, what it explains, what to do about it."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from app.model import Action
from app.rulebook.form import CauseName, EitherName, Form, Lines, Sentence

Scope = Literal["same_rank", "same_host", "other_ranks", "job"]
EdgeKind = Literal["always", "if_earlier"]

# Whoever waited in vain, was killed or was told to stop knows that it happened, and never why.
KNOW_NOT_WHY = frozenset({"NCCLTimeoutError", "NCCLRemoteError", "Stalled", "Cancelled", "Unknown"})


class Edge(Form):
    """One thing that a cause or signal explains, and among which ranks that holds.

    What is explained `alone` was a wrong guess of who prints it: a launcher takes a pod that was
    stopped for a host that went down. No chain leads on through it.
    """

    of: EitherName
    scope: Scope = "job"
    alone: bool = False


def _as_edge(value: object) -> object:
    return value if isinstance(value, dict | Edge) else {"of": value}


_Edges = tuple[Annotated[Edge, BeforeValidator(_as_edge)], ...]


class Explains(Form):
    """`always` holds in any order of lines, `if_earlier` only for what comes later.

    A bare name is an edge within the whole job.
    """

    always: _Edges = ()
    if_earlier: _Edges = ()

    def edges(self) -> Iterator[tuple[EdgeKind, int, Edge]]:
        """Give all edges with the list in which each stands, and its place there."""
        for index, edge in enumerate(self.always):
            yield "always", index, edge
        for index, edge in enumerate(self.if_earlier):
            yield "if_earlier", index, edge


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
