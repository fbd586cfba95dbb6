"""The forms that a model's replies must fit.

Fields stand in the order in which they are best written: first what is seen in the log, then what
is made of it. Regexes are held to the same linear-time form as those of rule files, so that a
fault in one is told to the model while it can still mend it. What no form can hold, such as
whether a quote stands in the log, is checked by who asked.
"""

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.config import JsonDict

from app.rulebook.form import CAUSE_NAME, NAME, RareRegex, Regex

Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
_Line = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
_Lines = Annotated[tuple[_Line, ...], Field(min_length=1, max_length=10)]
_Snake = Annotated[str, StringConstraints(pattern=NAME, max_length=60)]


class Reply(BaseModel):
    """A piece of a reply; fields that nobody asked for are a fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Quote(Reply):
    """A line of the log, with its number and, where there are several files, its file."""

    file: str | None = None
    line: Annotated[int, Field(ge=1)]
    text: _Line


class More(Reply):
    """A wish to see more of the log: the lines between two numbers, or those a pattern meets."""

    file: str | None = None
    first_line: Annotated[int, Field(ge=1)] | None = None
    last_line: Annotated[int, Field(ge=1)] | None = None
    pattern: Annotated[RareRegex, Field(max_length=200)] | None = None

    @model_validator(mode="after")
    def _one_wish(self) -> "More":
        window = (self.first_line, self.last_line)
        if (self.pattern is None) == (window == (None, None)) or window.count(None) == 1:
            raise ValueError("give either `first_line` and `last_line`, or `pattern`")
        if self.first_line and self.last_line and self.first_line > self.last_line:
            raise ValueError("`first_line` must not come after `last_line`")
        return self


class OpinionReply(Reply):
    """A cause, and the lines that show it."""

    quotes: Annotated[tuple[Quote, ...], Field(max_length=10)]
    against: Sentence
    cause: Annotated[str, StringConstraints(pattern=CAUSE_NAME)]
    confidence: Literal["certain", "likely", "doubtful"]
    more: More | None = None

    @field_validator("more", mode="before")
    @classmethod
    def _no_wish(cls, value: object) -> object:
        """Take an object of nulls, which strict schemas call for, as no wish."""
        empty = isinstance(value, dict) and all(part is None for part in value.values())
        return None if empty else value


def _without_more(schema: JsonDict) -> None:
    fields = schema["properties"]
    if isinstance(fields, dict):
        fields.pop("more")


class _LastOpinion(OpinionReply):
    """An opinion after which nothing more can be had; a wish is no reason to lose it."""

    model_config = ConfigDict(json_schema_extra=_without_more)

    @field_validator("more", mode="before")
    @classmethod
    def _no_wish(cls, _: object) -> object:
        return None


class FilterReply(Reply):
    """One filter rule."""

    name: _Snake
    title: Sentence
    why: Sentence
    match: RareRegex
    hits: _Lines
    misses: _Lines
    claimed_share: Annotated[float, Field(ge=0, le=1)]


class FiltersReply(Reply):
    """Filter rules for routine lines."""

    filters: Annotated[tuple[FilterReply, ...], Field(max_length=12)]


class SignalReply(Reply):
    """How a confirmed cause shows in a log: in a line, or in an exception."""

    why: Sentence
    name: _Snake
    says: Sentence
    strength: Literal["proof", "clue", "echo"]
    match: Annotated[tuple[RareRegex, ...], Field(max_length=4)] = ()
    exception: Annotated[tuple[_Line, ...], Field(max_length=4)] = ()
    message: Regex | None = None
    unless: Regex | None = None
    hits: _Lines
    misses: _Lines

    @model_validator(mode="after")
    def _one_way_to_match(self) -> "SignalReply":
        if bool(self.match) == bool(self.exception):
            raise ValueError("give either `match` or `exception`")
        if self.message and not self.exception:
            raise ValueError("`message` belongs to `exception`")
        return self


OF_PROMPT: Mapping[str, type[Reply]] = {
    "failure_agent": OpinionReply,
    "log_agent": FiltersReply,
    "rule_writer": SignalReply,
}
FORMS: Mapping[str, type[Reply]] = {form.__name__: form for form in OF_PROMPT.values()}


def opinion_among(causes: Collection[str], *, last: bool = False) -> type[OpinionReply]:
    """Give the form of an opinion that may name these causes and no other.

    The `last` one offers no `more`, and takes a wish for it as none.
    """
    return _among(tuple(sorted(causes)), _LastOpinion if last else OpinionReply)


@lru_cache(maxsize=8)
def _among(causes: tuple[str, ...], base: type[OpinionReply]) -> type[OpinionReply]:
    field = (Literal[causes], ...)
    return create_model("OpinionReply", __base__=base, cause=field)  # type: ignore[arg-type]
