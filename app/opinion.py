"""What a language model says of a failure, once its quotes have been looked up in the log."""

from dataclasses import dataclass
from typing import Literal

Weight = Literal["agrees", "chooses", "names", "none"]


@dataclass(frozen=True, slots=True)
class Quoted:
    """A line of the original log that was quoted, as it was printed."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Struck:
    """A quote that does not count, as it was given, and why."""

    file: str | None
    line: int
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """A cause, the lines that are quoted for it, and what speaks against it.

    `confidence` is the model's own word. `weight` says what the opinion did: it `agrees` with the
    rules, `chooses` among the causes that they found, `names` one that they did not, or `none`.
    """

    cause: str
    confidence: str
    quotes: tuple[Quoted, ...]
    against: str
    struck: tuple[Struck, ...] = ()
    agrees: bool = False
    weight: Weight = "none"


@dataclass(frozen=True, slots=True)
class Asked:
    """Which model was asked, with which prompts; `note` says why it gave no answer."""

    model: str
    prompts: str
    note: str | None = None
