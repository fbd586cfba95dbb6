"""Say whether one finding accounts for another in this very log.

The rulebook says what may explain what. Here the rest is asked: are both among the same ranks, did
the one come first, and does it weigh enough? A warning beside a hardware error did not cause it.
"""

from dataclasses import dataclass

from app.model import Finding, Line
from app.rulebook.cause import KNOW_NOT_WHY
from app.rulebook.relation import Link, Relation

# A wait of ten minutes that runs out at noon was over at noon for all who waited: what is printed
# in its last moments came with its end and did not begin it.
_LAST_SHARE, _LAST_SECONDS = 0.05, 30.0

_TAKEN_OFF = frozenset({"Preempted", "TimeLimitExceeded"})
# On Ctrl-C workers go before the process that waits for them, and native threads are cut short.
_TORN_DOWN = frozenset({"DataloaderKilled", "NativeCrash"})
_OF_THE_SCRIPT = frozenset({"AttributeError", "KeyError", "TypeError", "ValueError"})


@dataclass(frozen=True, slots=True)
class Event:
    """A finding with the line where what it tells of was seen first, if by others."""

    finding: Finding
    first: Line


def accounts_for(by: Event, event: Event, relation: Relation) -> Link | None:
    """Give the edge by which one finding accounts for another, None if it does not."""
    link = relation.link(_names(by), _names(event))
    return link if link and not _objection(by, event, link, relation) else None


def why_not(by: Event, event: Event, relation: Relation) -> str | None:
    """Say why an edge of the rulebook does not hold here, None where it does or there is none."""
    link = relation.link(_names(by), _names(event))
    return _objection(by, event, link, relation) if link else None


def _objection(by: Event, event: Event, link: Link, relation: Relation) -> str | None:
    if not _weighs_enough(by, event):
        return f"{by.finding.strength} is too weak to explain {event.finding.strength}"
    within = _in_scope(by.finding, event.finding, link)
    if within is False:
        return f"not among {link.scope.replace('_', ' ')}"
    # Where nobody says which ranks they were, what came later may as well be the answer to it.
    any_order = link.kind == "always" and not (within is None and link.scope == "other_ranks")
    if not any_order and not _began_before(by, event):
        return "it did not come before"
    back = relation.link(_names(event), _names(by))
    if back and _goes_before(back, link, event, by):
        return "the other way round goes before"
    return None


def _names(event: Event) -> tuple[str, str]:
    return event.finding.cause, event.finding.signal


def _goes_before(back: Link, link: Link, event: Event, by: Event) -> bool:
    """Say whether two findings that could explain each other do so the other way round.

    What rules state goes before what follows from a chain of them, and any order before one order.
    """
    if back.is_stated != link.is_stated:
        holds = back.kind == "always" or _began_before(event, by)
        return back.is_stated and holds
    return back.kind == "always" and link.kind == "if_earlier"


def _weighs_enough(by: Event, event: Event) -> bool:
    """Say whether one finding is strong enough to explain another.

    What is weaker never explains a proof, and an echo explains echoes only. Three things are apart:
    what knows not why it ended takes any reason, even one in plain words; a job that was taken off
    went down from then on, however loudly, but for the bugs of its script, and so did the workers
    of one that was stopped; what repeats the words of others weighs what they do.
    """
    culprit, finding = by.finding, event.finding
    if finding.strength == "echo":
        return True
    if finding.cause in KNOW_NOT_WHY:
        return culprit.strength != "echo" or culprit.general
    if culprit.strength == "echo":
        return False
    taken_off = culprit.strength == "clue" and culprit.cause in _TAKEN_OFF
    taken_off |= culprit.cause == "Cancelled" and finding.cause in _TORN_DOWN
    if taken_off and finding.cause not in _OF_THE_SCRIPT:
        return finding.strength != "proof" or _began_before(by, event)
    return culprit.strength == "proof" or finding.strength != "proof"


def _began_before(by: Event, event: Event) -> bool:
    return is_earlier(by.first, event.first, _last_moments(event) - _last_moments(by))


def _last_moments(event: Event) -> float:
    """Seconds before the end of a wait in which nothing can have begun it; 0 for what is none."""
    began, ended = event.finding.onset, event.finding.first.time
    if began is None or ended is None or event.finding.cause not in KNOW_NOT_WHY:
        return 0.0
    return min(_LAST_SECONDS, _LAST_SHARE * max(0.0, ended - began))


def _in_scope(culprit: Finding, finding: Finding, link: Link) -> bool | None:
    """Say whether an edge holds among the ranks or hosts of both, None where they are unknown."""
    if link.scope == "job":
        return True
    if link.scope == "same_host":
        own, other = _hosts(culprit), _hosts(finding)
        return bool(own & other) if own and other else None
    own_ranks, other_ranks = _ranks(culprit), _ranks(finding)
    if not own_ranks or not other_ranks:
        return None
    if link.scope == "same_rank":
        return bool(own_ranks & other_ranks)
    return bool(other_ranks - own_ranks)


def _ranks(finding: Finding) -> set[int]:
    told = (s.facts.get("rank", "") for s in finding.sightings if s.line.rank is None)
    ranks = {s.line.rank for s in finding.sightings if s.line.rank is not None}
    return ranks | {int(rank) for rank in told if rank.isdecimal()}


def _hosts(finding: Finding) -> set[str]:
    return {s.line.host for s in finding.sightings if s.line.host}


def is_earlier(own: Line, other: Line, margin: float = 0.0) -> bool:
    """Compare by clock where both have one, else by place in one file.

    By the clock the one must lie `margin` seconds before the other; of a line without a time its
    latest may tell. Files without clocks cannot be ordered; there the edge is given the benefit of
    the doubt. What stands in no file is the scheduler's word, which comes last.
    """
    if own.file < 0 or other.file < 0:
        return other.file < 0 <= own.file
    apart = bool(margin) or own.time != other.time or own.file != other.file
    if own.time is not None and other.time is not None and apart:
        return own.time + margin <= other.time
    if own.until is not None and other.time is not None and own.until + margin <= other.time:
        return True
    if own.time is not None and other.until is not None and other.until < own.time:
        return False
    return own.file != other.file or _place(own) < _place(other)


def _place(line: Line) -> tuple[int, int]:
    return line.file, line.number
