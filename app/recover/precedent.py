"""What to do about a cause that comes from memory alone.

Likeness is no ground to touch a machine: nothing is restarted, resubmitted or cordoned on it. What
is left is advice to a person, who is shown the steps of the cause behind the reason for doubt.
"""

from app.model import Plan, Verdict
from app.recover.plan import filled
from app.rulebook.rulebook import Rulebook

_FIRST = (
    "No rule knows this log. Compare it with the precedents before you act; if it is the same"
    " failure, what helped there was:"
)


def by_precedent(verdict: Verdict, rulebook: Rulebook) -> Plan:
    """Advise what the rules advise for the cause, but for anything that could do harm."""
    recovery = rulebook.causes[verdict.primary.cause].recovery
    action = recovery.action if recovery.action.startswith("fix_") else "none"
    steps = (filled(step, {}) for step in recovery.steps)
    return Plan(action=action, restart=False, steps=(_FIRST, *steps))
