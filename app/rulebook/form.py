"""What all rule forms share: strict fields, and regexes given as one string or a list of them."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints

from app.rulebook.pattern import parse


class Form(BaseModel):
    """A piece of a rule file; an unknown field is a fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _linear(source: str) -> str:
    parse(source)
    return source


Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
CauseName = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]*$")]
Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3)]
Regex = Annotated[str, AfterValidator(_linear)]
Regexes = Annotated[tuple[Regex, ...], BeforeValidator(_as_list)]
Lines = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
