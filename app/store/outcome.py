"""How a diagnosis ended: with an answer, or with a fault. Light, since every worker imports it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.incident import Snippet
from app.model import Job
from app.written import Seen

_HEAD = 200  # characters of an answer, among which its status stands


@dataclass(frozen=True, slots=True)
class Remembered:
    """What an incident keeps of a diagnosis besides its cause."""

    fingerprint: str
    snippet: Snippet
    job: Job


@dataclass(frozen=True, slots=True)
class Blame:
    """A host under suspicion; `is_hardware` where the advice is to take it out."""

    host: str
    is_hardware: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished answer as JSON, the digest, and what lists and filters need to know of it.

    `seconds` are those that its stages took.
    """

    answer: str
    digest: str
    cause: str
    domain: str
    confidence: str
    action: str
    summary: str
    method: str = "rules"
    rules: str = ""
    fingerprint: str = ""
    restart: bool = False
    last_step: int | None = None
    blames: tuple[Blame, ...] = ()
    remembered: Remembered | None = None
    seen: Seen | None = None
    kept: bytes | None = None  # the compressed log; empty where it is too large, None as before
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there is no answer; `status` is what HTTP would say, `kind` the name of the error."""

    kind: str
    status: int
    detail: str


def is_refining(answer: str | None) -> bool:
    """Say whether an answer, as JSON, is one that a better one is still being worked on for."""
    if answer is None or '"refining"' not in answer[:_HEAD]:  # most are not, and need no reading
        return False
    return bool(json.loads(answer).get("status") == "refining")
