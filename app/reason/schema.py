"""The form of a reply as JSON Schema: for endpoints that hold a model to it, and in words.

Strict endpoints want every field required and nothing beside them, know no limits on length, and
some follow no references. So the schema is written out in that narrow dialect; what it cannot say
is checked on the reply anyway.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from pydantic import BaseModel

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"

_KEPT = {"type", "enum", "const", "description", "anyOf", "items", "properties", "required"}


@lru_cache(maxsize=32)
def strict_schema(form: type[BaseModel]) -> Mapping[str, Json]:
    """Write the schema of a form in the dialect that all endpoints know."""
    whole: dict[str, Json] = form.model_json_schema()
    definitions = whole.get("$defs")
    narrow = _narrow(whole, definitions if isinstance(definitions, dict) else {})
    return narrow if isinstance(narrow, dict) else {}


@lru_cache(maxsize=32)
def in_words(form: type[BaseModel]) -> str:
    """Ask for a reply that fits a form, for endpoints that hold a model to nothing."""
    schema = json.dumps(strict_schema(form), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with nothing but one JSON object that fits this JSON Schema:\n{schema}"


def _narrow(node: Json, definitions: Mapping[str, Json]) -> Json:
    if isinstance(node, list):
        return [_narrow(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str):
        return _narrow(definitions[reference.rpartition("/")[2]], definitions)
    narrow: dict[str, Json] = {}
    for key, value in node.items():
        if key == "properties" and isinstance(value, dict):
            narrow[key] = {name: _narrow(part, definitions) for name, part in value.items()}
            narrow["required"] = list(value)
            narrow["additionalProperties"] = False
        elif key in _KEPT and key not in narrow:
            narrow[key] = value if key == "enum" else _narrow(value, definitions)
    return narrow
