"""Read a JSON body whole, within a bound, into its form."""

from typing import TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from app.errors import SourceTooLarge

MAX_JSON_BYTES = 8 << 20

_Form = TypeVar("_Form", bound=BaseModel)


def check_length(request: Request, limit: int) -> None:
    """Refuse at once what says that it is too large, before the client sends it."""
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limit:
        raise _too_large(limit)


async def body_of(request: Request) -> bytes:
    """Read a body; raise SourceTooLarge past the bound."""
    check_length(request, MAX_JSON_BYTES)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_JSON_BYTES:
            raise _too_large(MAX_JSON_BYTES)
    return bytes(body)


def parsed(body: bytes, form: type[_Form]) -> _Form:
    """Read JSON into a form; raise RequestValidationError, which names every fault."""
    try:
        return form.model_validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise RequestValidationError(
            [{**item, "loc": ("body", *item["loc"])} for item in found]
        ) from error


def _too_large(limit: int) -> SourceTooLarge:
    return SourceTooLarge(f"the body is larger than {limit} bytes")
