"""Let memory speak where the rules have nothing to say.

That is weak ground: lines that are alike, and people who gave the same cause before. So it counts
only where no rule names a cause (or nothing but echoes), never makes the verdict sure, and says
what it rests on.
"""

from dataclasses import replace

from app.incident import Recalled
from app.model import Verdict
from app.rulebook.rulebook import Rulebook

_SUMMARY = "no rule names this failure; it is like incidents to which people gave this cause"


def remembered(verdict: Verdict, recalled: Recalled, rulebook: Rulebook) -> Verdict | None:
    """Give the verdict that confirmed incidents agree on; None where the rules' own stands."""
    primary = verdict.primary
    cause = rulebook.causes.get(recalled.agreed or "")
    is_open = primary.cause == "Unknown" or primary.strength == "echo"
    if cause is None or cause.status != "stable" or not is_open or cause.name == primary.cause:
        return None
    alike = [one.id for one in recalled.precedents if one.confirmed and one.cause == cause.name]
    grounds = f"the cause comes from memory alone ({', '.join(alike)}), not from a rule"
    return replace(
        verdict,
        primary=replace(
            primary,
            cause=cause.name,
            domain=cause.domain,
            signal=None,
            strength=None,
            confidence="low",
            summary=f"{cause.title}: {_SUMMARY}",
        ),
        remarks=(*verdict.remarks, grounds),
    )
