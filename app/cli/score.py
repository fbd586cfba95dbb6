"""Hold diagnoses against the right answers of stories, coverage apart from judging.

Two things go wrong in different ways and are mended in different places: the right cause was not
found at all (a signal is missing), or it was found and another one was chosen (an edge, a strength
or a mechanism is wrong). Advice is harmful where following it would hurt a healthy node or a job.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.located import Suspect
from app.model import Diagnosis
from app.story import Answer, Place, Story

ALL = "all"
_NO_NODE = ("fix_code", "fix_config", "fix_data", "none", "resubmit")  # no machine is at fault
_FIX_FIRST = ("fix_code", "fix_config", "fix_data")


@dataclass(frozen=True, slots=True)
class Score:
    """How one story was answered; `suspect` is None where its answer names none."""

    story: str
    domain: str
    wanted: str
    said: str
    covered: bool
    action: bool
    suspect: bool | None
    harm: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Say whether the right cause was chosen."""
        return self.said == self.wanted


@dataclass(frozen=True, slots=True)
class Share:
    """Some of all; without any there is no share."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        """The share from 0 to 1."""
        return self.count / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Row:
    """The scores of one domain, or of all of them."""

    domain: str
    stories: int
    coverage: Share
    judging: Share
    right: Share
    actions: Share
    suspects: Share
    harmful: int


def score(story: Story, found: Diagnosis, domain: str) -> Score:
    """Compare one diagnosis with the right answer."""
    right, verdict = story.right, found.verdict
    told = {verdict.primary.cause, *(item.cause for item in verdict.explained)}
    told |= {root.cause for root in verdict.other_roots}
    return Score(
        story=story.name,
        domain=domain,
        wanted=right.primary,
        said=verdict.primary.cause,
        covered=right.primary in told,
        action=found.plan.action == right.action,
        suspect=_is_named(right.suspect, verdict.suspects) if right.suspect else None,
        harm=tuple(_harm(right, found)),
    )


def rows(scores: Sequence[Score]) -> list[Row]:
    """Sum the scores up by domain, and over all."""
    domains = sorted({score.domain for score in scores})
    parts = [(d, [score for score in scores if score.domain == d]) for d in domains]
    return [_row(name, own) for name, own in [*parts, (ALL, scores)]]


def _row(domain: str, scores: Sequence[Score]) -> Row:
    covered = [score for score in scores if score.covered]
    return Row(
        domain=domain,
        stories=len(scores),
        coverage=_share(score.covered for score in scores),
        judging=_share(score.right for score in covered),
        right=_share(score.right for score in scores),
        actions=_share(score.action for score in scores),
        suspects=_share(score.suspect for score in scores if score.suspect is not None),
        harmful=sum(bool(score.harm) for score in scores),
    )


def _share(facts: Iterable[bool]) -> Share:
    told = list(facts)
    return Share(sum(told), len(told))


def _is_named(place: Place, suspects: Iterable[Suspect]) -> bool:
    known = place.model_dump(exclude_none=True).items()
    return any(
        all(getattr(suspect, name) == value for name, value in known) for suspect in suspects
    )


def _harm(right: Answer, found: Diagnosis) -> Iterable[str]:
    said = found.verdict.primary.cause
    if found.plan.action == "cordon_and_restart" and right.action in _NO_NODE:
        yield "takes out a healthy node"
    if found.plan.restart and right.action in _FIX_FIRST:
        yield "restarts into the same failure"
    if said != right.primary and "Completed" in (said, right.primary) and said != "Unknown":
        yield "mistakes whether the job finished"
