"""What to do about a cause for which a model's word was needed.

The action is that of the rules. But no machine is taken out and nothing starts again by itself on
such a word: a person looks at the quoted lines first.
"""

from dataclasses import replace

from app.model import Plan, Verdict
from app.recover.plan import filled
from app.rulebook.rulebook import Rulebook

_CHOSEN = "A language model broke a doubt of the rules: read the lines it quotes before you act."
_NAMED = (
    "No rule knows this log; a language model names the cause. Read the lines it quotes; if they"
    " bear it out, what helps is:"
)


def by_opinion(verdict: Verdict, rulebook: Rulebook) -> Plan:
    """Advise what the rules advise for a cause that a model named alone."""
    recovery = rulebook.causes[verdict.primary.cause].recovery
    steps = tuple(filled(step, {}) for step in recovery.steps)
    return cautious(Plan(recovery.action, False, steps=steps), _NAMED)


def cautious(plan: Plan, reason: str = _CHOSEN) -> Plan:
    """Take from a plan what could do harm where the model is wrong."""
    action = "restart" if plan.action == "cordon_and_restart" else plan.action
    return replace(
        plan, action=action, restart=False, targets=(), commands=(), steps=(reason, *plan.steps)
    )
