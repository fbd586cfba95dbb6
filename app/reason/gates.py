"""What a filter must pass before it may take a line away. Each gate gives a reason, or None.

A filter that a model wrote is a guess about lines that it has not seen. The gates hold it to what
is known: the lines that are evidence of every cause, the examples that it gave itself, and the log
that it was written for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import re2

from app.reason.ballot import Sample
from app.reason.forms import FilterReply
from app.rulebook.compiled import line_regexp
from app.rulebook.pattern import Pattern, PatternError, literal_weight, parse

_FEWEST_LITERALS = 6  # from so many on RE2 and its like find candidates by their text
_LONGEST = 2000  # characters of the form that runs; each costs on every line
_MOST_KINDS = 0.5  # of those that are left; who meets more is `.*` in other words
_FEWEST_KINDS = 4  # below it a filter may be for nearly all
_WORTH = 0.01  # of what is left, in tokens
_CLAIM_FACTOR, _CLAIM_SPARE = 1.5, 0.05
# as printed by torchrun, by srun, and by a logger
_PREFIXES = ("", "[rank3]: ", "17: ", "2026-03-03 04:12:09,112 ", "gpu-0064: ")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line that no filter may hide; `origin` says where it is known from."""

    text: str
    origin: str


@dataclass(frozen=True)
class Trial:
    """One filter before its gates."""

    filter: FilterReply
    meets: frozenset[int]
    sample: Sample
    evidence: Sequence[Evidence]

    @cached_property
    def pattern(self) -> Pattern:
        """Its canonical form; raises PatternError."""
        return parse(self.filter.match)

    @cached_property
    def regexp(self) -> "re2._Regexp":
        """What runs."""
        return line_regexp(self.pattern.line)

    def finds(self, text: str) -> bool:
        """Say whether it meets a line."""
        return self.regexp.search(text.encode("utf-8", "replace")) is not None


Gate = Callable[[Trial], str | None]


def runs_in_linear_time(trial: Trial) -> str | None:
    """Ask for a canonical form."""
    try:
        _ = trial.pattern
    except PatternError as error:
        return f"it does not run in linear time: {error}"
    return None


def is_specific(trial: Trial) -> str | None:
    """Refuse what meets nearly anything."""
    kinds = {trial.sample.kinds[index] for index in trial.meets}
    every = set(trial.sample.kinds)
    if len(kinds) >= _FEWEST_KINDS and len(kinds) > _MOST_KINDS * len(every):
        return f"it meets {len(kinds)} of {len(every)} kinds of lines"
    return None


def hides_no_evidence(trial: Trial) -> str | None:
    """Refuse what meets a line that is known to tell of a failure."""
    prefixes = _PREFIXES if trial.pattern.anchored else ("",)
    for known in trial.evidence:
        if any(trial.finds(prefix + known.text) for prefix in prefixes):
            return f"it hides evidence ({known.origin}): {known.text[:200]}"
    return None


def meets_its_examples(trial: Trial) -> str | None:
    """Ask that it does what it says."""
    for line in trial.filter.hits:
        if not trial.finds(line):
            return f"it does not meet its own example: {line[:200]}"
    return None


def spares_its_counterexamples(trial: Trial) -> str | None:
    """Ask that it leaves alone what it says it does."""
    for line in trial.filter.misses:
        if trial.finds(line):
            return f"it meets its own counter-example: {line[:200]}"
    return None


def takes_no_more_than_it_claims(trial: Trial) -> str | None:
    """Compare its share of the log with the share that it claims."""
    share, claimed = trial.sample.share_of_lines(trial.meets), trial.filter.claimed_share
    if share > max(claimed * _CLAIM_FACTOR, claimed + _CLAIM_SPARE):
        return f"it claims {claimed:.1%} of the lines and takes {share:.1%}"
    return None


def takes_enough(trial: Trial) -> str | None:
    """Refuse what changes little."""
    share = trial.sample.share_of_rest(trial.meets)
    if not trial.meets:
        return "it meets no line of the log that may be taken away"
    if share < _WORTH:
        return f"it takes {share:.2%} of what is left, less than {_WORTH:.0%}"
    return None


def is_cheap(trial: Trial) -> str | None:
    """Refuse what would cost more on every line than it saves."""
    literals = literal_weight(trial.pattern)
    if literals < _FEWEST_LITERALS:
        return f"it holds {literals} literal characters, fewer than {_FEWEST_LITERALS}"
    if len(trial.pattern.line) > _LONGEST:
        return f"its form has {len(trial.pattern.line)} characters, more than {_LONGEST}"
    return None


GATES: tuple[Gate, ...] = (
    runs_in_linear_time,
    takes_enough,
    is_specific,
    is_cheap,
    hides_no_evidence,
    meets_its_examples,
    spares_its_counterexamples,
    takes_no_more_than_it_claims,
)


def refusal(trial: Trial) -> str | None:
    """Give the reason of the first gate that a filter does not pass."""
    return next((why for gate in GATES if (why := gate(trial)) is not None), None)
