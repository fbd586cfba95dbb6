"""What became of logs that were put to a model, and the report of it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.model import Diagnosis
from app.reason.call import Call
from tests.agent.labels import Label


@dataclass(frozen=True)
class Outcome:
    """One log before and after the model was asked."""

    label: Label
    before: Diagnosis
    after: Diagnosis

    @property
    def was_right(self) -> bool:
        return self.label.fits(self.before)

    @property
    def is_right(self) -> bool:
        return self.label.fits(self.after)

    @property
    def harmed(self) -> str | None:
        """What the model made harmful that was not before."""
        return None if self.label.harm(self.before) else self.label.harm(self.after)

    def told(self) -> str:
        """Put it in a line."""
        opinion = self.after.opinion
        said = opinion.cause if opinion else "nothing"
        before, after = self.before.verdict.primary.cause, self.after.verdict.primary.cause
        wanted = " or ".join(self.label.causes)
        return f"{self.label.name}: {wanted}; rules {before}, model {said}, then {after}"


def report(outcomes: Sequence[Outcome], sure: Sequence[Outcome], calls: Sequence[Call]) -> str:
    """Sum up those in doubt, those beyond doubt beside them, and what was asked."""
    return "\n".join([*_accuracy(outcomes, sure), *_quotes(outcomes), *_costs(outcomes, calls)])


def _accuracy(outcomes: Sequence[Outcome], sure: Sequence[Outcome]) -> Iterator[str]:
    beyond = sum(one.was_right for one in sure)
    for name, some, more in (("in doubt", outcomes, 0), ("of all", [*outcomes, *sure], beyond)):
        count = len(some)
        yield f"{count} logs {name}"
        was = sum(one.was_right for one in outcomes) + more
        now = sum(one.is_right for one in outcomes) + more
        yield f"  right by rules: {was} ({was / max(1, count):.1%})"
        yield f"  right with the model: {now} ({now / max(1, count):.1%})"
    kinds = {
        "better": [one.told() for one in outcomes if one.is_right and not one.was_right],
        "worse": [one.told() for one in outcomes if one.was_right and not one.is_right],
        "harmful": [f"{one.told()}: {one.harmed}" for one in outcomes if one.harmed],
        "still wrong": [one.told() for one in outcomes if not (one.is_right or one.was_right)],
    }
    for kind, told in kinds.items():
        yield f"{kind}: {len(told)}"
        yield from (f"  {line}" for line in told)


def _quotes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    opinions = [one.after.opinion for one in outcomes if one.after.opinion]
    struck = [quote for opinion in opinions for quote in opinion.struck]
    yield f"quotes: {sum(len(one.quotes) for one in opinions)} stand, {len(struck)} struck"
    yield from (f"  {quote.line}: {quote.text[:100]!r}: {quote.why}" for quote in struck)


def _costs(outcomes: Sequence[Outcome], calls: Sequence[Call]) -> Iterator[str]:
    silent = Counter(one.after.asked.note for one in outcomes if one.after.asked)
    yield from (f"no answer ({n} times): {note}" for note, n in silent.items() if note)
    count = max(1, len(outcomes))
    asked = sum(call.tokens_in for call in calls) / count
    told = sum(call.tokens_out for call in calls) / count
    yield f"a log: {len(calls) / count:.2f} calls, {asked:.0f} tokens asked, {told:.0f} answered"
    yield f"calls: {dict(Counter(call.outcome for call in calls))}"
