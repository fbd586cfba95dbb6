"""Read a model's reply into its form, or say in words what is wrong with it.

Where an endpoint does not hold the model to JSON, the object stands between thoughts, fences and
politeness. So the last object is taken that fits: what stands before it may be a draft. Thoughts
are looked into only where nothing follows them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

_F = TypeVar("_F", bound=BaseModel)

_THOUGHTS_END = "</think>"
_MOST_OBJECTS = 50  # places where an object might begin
_MOST_FAULTS = 8
_DECODER = json.JSONDecoder(strict=False)  # models write line breaks within strings


@dataclass(frozen=True, slots=True)
class Misfit:
    """What is wrong with a reply; `is_json` says that it held an object at least."""

    told: str
    is_json: bool


def read(text: str, form: type[_F]) -> _F | Misfit:
    """Take the object out of a reply and check it."""
    _, ended, rest = text.rpartition(_THOUGHTS_END)
    found = _last(rest, form)
    if ended and isinstance(found, Misfit) and not found.is_json:
        return _last(text, form)
    return found


def _last(text: str, form: type[_F]) -> _F | Misfit:
    found: _F | Misfit = Misfit("it holds no JSON object", is_json=False)
    for value in _objects(text):
        try:
            found = form.model_validate(value)
        except ValidationError as error:
            if isinstance(found, Misfit) and not found.is_json:
                found = Misfit(_in_words(error), is_json=True)
    return found


def _objects(text: str) -> Iterator[object]:
    at = -1
    for _ in range(_MOST_OBJECTS):
        at = text.find("{", at + 1)
        if at < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except ValueError:
            continue
        except RecursionError:  # no form goes that deep
            return
        yield value
        at = end - 1


def _in_words(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)
    told = [f"{'.'.join(map(str, fault['loc'])) or 'it'}: {fault['msg']}" for fault in faults]
    more = [f"and {len(told) - _MOST_FAULTS} more"] if len(told) > _MOST_FAULTS else []
    return "; ".join(told[:_MOST_FAULTS] + more)
