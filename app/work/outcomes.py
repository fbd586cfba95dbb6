"""A diagnosis, or an error, in the words that are stored and sent."""

import json

from app.answer import answer
from app.errors import FirstFaultError
from app.incident import Snippet
from app.model import Diagnosis
from app.store.outcome import Blame, Fault, Outcome, Remembered


def outcome_of(diagnosis: Diagnosis, id: str, status: str = "complete") -> Outcome:
    """Put a diagnosis into the words that are stored and sent."""
    primary = diagnosis.verdict.primary
    text = json.dumps(answer(diagnosis, id=id, status=status), ensure_ascii=False)
    return Outcome(
        answer=_storable(text),
        digest=_storable(diagnosis.digest),
        cause=primary.cause,
        domain=primary.domain,
        confidence=primary.confidence,
        action=diagnosis.plan.action,
        summary=_storable(primary.summary),
        method=diagnosis.method,
        rules=diagnosis.rules,
        fingerprint=primary.fingerprint,
        restart=diagnosis.plan.restart,
        blames=_blames(diagnosis),
        remembered=_remembered(diagnosis),
    )


def _remembered(diagnosis: Diagnosis) -> Remembered | None:
    """Take what the incident will keep, where the lines that show the failure were taken."""
    if not diagnosis.snippet.lines:
        return None
    lines = tuple(map(_storable, diagnosis.snippet.lines))
    return Remembered(diagnosis.verdict.primary.fingerprint, Snippet(lines), diagnosis.job)


def _blames(diagnosis: Diagnosis) -> tuple[Blame, ...]:
    """The hosts under suspicion; those to be cordoned are so for their hardware."""
    cordoned = set(diagnosis.plan.targets)
    hosts = [suspect.host for suspect in diagnosis.verdict.suspects if suspect.host]
    return tuple(
        Blame(_storable(host)[:256], host in cordoned)
        for host in dict.fromkeys([*hosts, *diagnosis.plan.targets])
    )


def fault_of(error: FirstFaultError) -> Fault:
    """Put one of our errors into a value."""
    return Fault(type(error).__name__, error.status, _storable(str(error)))


def _storable(text: str) -> str:
    """Replace what a database or UTF-8 cannot hold: lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
