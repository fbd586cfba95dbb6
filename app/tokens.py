"""Access tokens: who may do what."""

import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Scope = Literal["submit", "read", "feedback", "admin"]  # admin may do all
SCOPES: tuple[Scope, ...] = get_args(Scope)

_LEAST_SECRET = 16  # characters; shorter ones can be guessed over the network
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class Token:
    """A named secret with what its bearer may do."""

    name: str
    scopes: frozenset[Scope]
    secret: str

    def __repr__(self) -> str:
        """Leave the secret out."""
        return f"Token({self.name}: {'+'.join(sorted(self.scopes))})"

    def may(self, scope: Scope) -> bool:
        """Say whether its bearer may do such a thing."""
        return scope in self.scopes or "admin" in self.scopes


def parse(text: str) -> Token:
    """Read `name:scope+scope:secret`; raise ValueError, which never tells the secret."""
    name, _, rest = text.partition(":")
    scopes, _, secret = rest.partition(":")
    if not _NAME.fullmatch(name) or text.count(":") < 2:
        raise ValueError("a token has the form name:scope+scope:secret")
    named = scopes.split("+")
    if unknown := [scope for scope in named if scope not in SCOPES]:
        raise ValueError(
            f"token {name}: unknown scope {unknown[0][:32]!r}; use {', '.join(SCOPES)}"
        )
    if len(secret) < _LEAST_SECRET or not secret.isascii() or not secret.isprintable():
        raise ValueError(
            f"token {name}: its secret must have at least {_LEAST_SECRET} printable characters "
            '(make one: python -c "import secrets; print(secrets.token_urlsafe(24))")'
        )
    return Token(name, frozenset(scope for scope in SCOPES if scope in named), secret)


def bearer(tokens: Sequence[Token], secret: str) -> Token | None:
    """Find whose secret it is, in a time that does not depend on how much of it is right."""
    given = secret.encode("utf-8", "surrogateescape")
    found = None
    for token in tokens:
        if hmac.compare_digest(token.secret.encode(), given):
            found = token
    return found
