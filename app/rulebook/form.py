"""What all rule forms share: strict fields, and regexes given as one string or a list of them."""

from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
    ValidationInfo,
)

from app.rulebook.pattern import literal_weight, parse

_FEWEST_LITERALS = 4


class Form(BaseModel):
    """A piece of a rule file; an unknown field is a fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def as_list(value: object) -> object:
    """Take a single value where a list of them is asked for."""
    return [value] if isinstance(value, str) else value


def _linear(source: str, info: ValidationInfo) -> str:
    if info.context != PROVEN:
        parse(source)
    return source


def _rare(source: str, info: ValidationInfo) -> str:
    if info.context != PROVEN and literal_weight(parse(source)) < _FEWEST_LITERALS:
        raise ValueError(
            f"so little text meets routine lines, and it is looked for on every line: ask for at "
            f"least {_FEWEST_LITERALS} literal characters"
        )
    return source


# The context in which forms are read that were checked before: parsing all regexes again would
# take longer than a whole diagnosis.
PROVEN = "proven"

NAME = r"^[a-z][a-z0-9_]*$"
CAUSE_NAME = r"^[A-Z][A-Za-z0-9]*$"
EITHER_NAME = r"^(?:[A-Z][A-Za-z0-9]*|[a-z][a-z0-9_]*)$"

Name = Annotated[str, StringConstraints(pattern=NAME)]
CauseName = Annotated[str, StringConstraints(pattern=CAUSE_NAME)]
EitherName = Annotated[str, StringConstraints(pattern=EITHER_NAME)]
Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3)]
Regex = Annotated[str, AfterValidator(_linear)]
Regexes = Annotated[tuple[Regex, ...], BeforeValidator(as_list)]
RareRegex = Annotated[Regex, AfterValidator(_rare)]
RareRegexes = Annotated[tuple[RareRegex, ...], BeforeValidator(as_list)]
Lines = Annotated[tuple[str, ...], BeforeValidator(as_list)]
