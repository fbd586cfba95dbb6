"""Say in plain words what is wrong with a value in a rule file."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeAlias

from pydantic_core import ErrorDetails

from app.rulebook.form import CAUSE_NAME, EITHER_NAME, NAME, Form

_NAMED = {
    NAME: "must be a name in snake_case",
    CAUSE_NAME: "must be a cause, in CamelCase as NVLinkError is",
    EITHER_NAME: "must be the name of a cause or of a signal",
}

Place: TypeAlias = tuple[int | str, ...]
_Said: TypeAlias = Mapping[str, object]

_WORDS: Mapping[str, Callable[[_Said], str]] = {
    "greater_than_equal": lambda said: f"must be at least {said['ge']}",
    "int_parsing": lambda said: "must be a whole number",
    "int_type": lambda said: "must be a whole number",
    "literal_error": lambda said: f"must be {said['expected']}",
    "model_type": lambda said: "must be a mapping with fields",
    "string_pattern_mismatch": lambda said: _NAMED[str(said["pattern"])],
    "string_too_short": lambda said: "says nothing",
    "string_type": lambda said: "must be text; if it holds `: ` or ` #`, put it in quotes",
    "tuple_type": lambda said: "must be a list, or a single text where texts are listed",
    "value_error": lambda said: str(said["error"]),
}


def in_words(faults: Iterable[ErrorDetails]) -> Iterator[tuple[Place, str]]:
    """Put what pydantic found in one file into sentences; a field misspelt is told once."""
    found = list(faults)
    misspelt = {
        (fault["loc"][:-1], _near(str(fault["loc"][-1]), _fields()))
        for fault in found
        if fault["type"] == "extra_forbidden"
    }
    for fault in found:
        at = fault["loc"]
        if fault["type"] != "missing" or (at[:-1], at[-1]) not in misspelt:
            yield at, _in_words(fault)


def _in_words(fault: ErrorDetails) -> str:
    *parents, last = fault["loc"] or ("the file",)
    if fault["type"] == "missing":
        return f"{_within(parents)}`{last}` is missing"
    if fault["type"] == "extra_forbidden":
        return f"{_within(parents)}`{last}` is no field here{meant(str(last), _fields())}"
    say = _WORDS.get(fault["type"])
    words = say(fault.get("ctx", {})) if say else fault["msg"]
    return f"{_path(fault['loc']) or 'the file'}: {words}"


def meant(name: str, known: Sequence[str]) -> str:
    """Guess what was meant by a name that nobody knows; empty where nothing is near."""
    near = _near(name, [other for other in known if other != name])
    return f"; did you mean {near}?" if near else ""


def _near(name: str, known: Sequence[str]) -> str | None:
    return next(iter(get_close_matches(name, known, 1)), None)


def _fields() -> list[str]:
    return sorted({name for form in _forms(Form) for name in form.model_fields})


def _forms(form: type[Form]) -> list[type[Form]]:
    return [form, *(inner for own in form.__subclasses__() for inner in _forms(own))]


def _within(parents: Sequence[int | str]) -> str:
    return f"{_path(parents)}: " if parents else ""


def _path(at: Sequence[int | str]) -> str:
    """Spell a place as `signals[2].explains.always[0]`."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    return steps.removeprefix(".")
