"""What the rules would have one do about a finding."""

from app.model import Action, Finding, Root
from app.rulebook.rulebook import Rulebook


def action_of(found: Finding | Root, rulebook: Rulebook) -> Action:
    """Give the action of the rules; a signal may know better than its cause."""
    signal = rulebook.signal_named.get(found.signal)
    cause = rulebook.causes.get(found.cause)
    return (signal.action if signal else None) or (cause.recovery.action if cause else "none")
