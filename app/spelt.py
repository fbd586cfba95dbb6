"""Read what the text of a setting stands for: lists, pairs, tokens, URLs, keys."""

import re
from urllib.parse import urlsplit

from pydantic import SecretStr

from app.tokens import Token, parse

DEFAULT_PORT = 8000


def places(value: object) -> object:
    """Read `/a:s3://b` as two places, as in PATH; a TOML file gives a list."""
    if not isinstance(value, str):
        return value
    return [part for part in re.split("[:,](?!//)", value) if part]


def port(value: object) -> object:
    """Take what Kubernetes says of a Service named firstfault (`tcp://10.1.2.3:80`) for nothing."""
    return DEFAULT_PORT if isinstance(value, str) and value.startswith("tcp://") else value


def pair(value: object) -> object:
    """Read `0.4,1.6` as two numbers; a TOML file gives a list."""
    return re.split(r"\s*,\s*", value) if isinstance(value, str) else value


def address(url: str) -> str:
    """Refuse a URL whose host or port nobody can connect to."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError as error:
        raise ValueError(f"{url} is no URL: {error}") from error
    if not host or re.search(r"\s", host) or port == 0:
        raise ValueError(f"{url} names no host and port that there may be")
    return url


def key(given: SecretStr | None) -> SecretStr | None:
    """Take off the line break at the end of a file, and refuse what no header can carry.

    Else a client would tell the key in its complaint about it.
    """
    plain = given.get_secret_value().strip() if given else ""
    if not (plain.isascii() and plain.isprintable()):
        raise ValueError("it holds characters that no HTTP header can carry")
    return SecretStr(plain) if plain else None


def tokens(value: object) -> object:
    """Read `name:scope+scope:secret,…`."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)):
        return value
    tokens = [part if isinstance(part, Token) else parse(str(part).strip()) for part in parts]
    names = [token.name for token in tokens]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"token {min(twice)} is named twice")
    return tuple(tokens)
