"""What is remembered of a failed job, and what is told of it later."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Snippet:
    """The few lines that show a failure, with all that differs from run to run masked.

    The lines of the root stand first; a log is never kept whole.
    """

    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A person's word on a cause; `at` is in seconds since the epoch."""

    by: str
    at: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Incident:
    """A past failure; `cause` is the one that was confirmed, where one was."""

    id: str
    diagnosis_id: str
    cause: str
    fingerprint: str
    snippet: Snippet
    created_at: float
    cluster: str | None = None
    job_id: str | None = None
    job_type: str | None = None
    confirmed: Confirmation | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """An incident that is new or was confirmed: what a search must know of it."""

    id: str
    snippet: Snippet
    at: float
    confirmed: bool


@dataclass(frozen=True, slots=True)
class Precedent:
    """A past incident that resembles this one; `similarity` runs from 0 to 1."""

    id: str
    cause: str
    similarity: float
    confirmed: bool


@dataclass(frozen=True, slots=True)
class Recalled:
    """What memory says of a failure: precedents, the likest first.

    `agreed` is the cause that people confirmed for all that lie very close, where they lie close
    enough to speak for it; `note` says why memory could not be asked in full.
    """

    precedents: tuple[Precedent, ...] = ()
    agreed: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class IndexState:
    """How the index over incidents fares: `whole`, `filling` or `gone`.

    `indexed` counts what it holds, `known` what it should.
    """

    state: str
    indexed: int
    known: int
