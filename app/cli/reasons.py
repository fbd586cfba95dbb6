"""Tell how a log came to its verdict, so that a wrong one is understood in a minute.

Four things go wrong: a line was left out, a finding was weakened, an edge did not hold, or of
several roots another came first. Each is told with its reason, and in this order.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from app.detect.detect import Sighted, detect
from app.detect.signals import Tried, tried
from app.detect.strangers import as_told, of_others
from app.judge.account import Event, why_not
from app.judge.carried import judge_after
from app.judge.primary import Ranking, rank
from app.model import OUTLIVED, Attempt, Detected, Ending, Finding, Job, Sighting, Verdict
from app.rulebook.compiled import Compiled

_MOST_REFUSED = 12


def judged(sighted: Sighted, compiled: Compiled) -> Iterator[str]:
    """Tell for the last attempt what counted, who explains whom, and why the first root won."""
    attempt, found, verdict = sighted.attempts[-1], *_last(sighted, compiled)
    ranking = rank(found.findings, compiled.rulebook)
    yield from _attempt(sighted, attempt)
    yield from _left_out(_met(sighted, attempt, compiled), found)
    yield from _ranked(ranking)
    yield from _refused(ranking, compiled)
    yield f"ending: {_ending(found.ending)}"
    primary = verdict.primary
    yield f"verdict: {primary.cause} ({primary.confidence}), {_why(verdict, ranking)}"


def _last(sighted: Sighted, compiled: Compiled) -> tuple[Detected, Verdict]:
    """Judge all attempts in turn, since one may leave its broken device to the next."""
    files, judged = sighted.log.files, None
    for attempt in sighted.attempts:
        found = detect(sighted, attempt, compiled, Job())
        judged = judge_after(judged, found, compiled.rulebook, files, Job())
    if judged is None:
        raise AssertionError("a log without an attempt")
    return judged[0], judged[1]


def _met(sighted: Sighted, attempt: Attempt, compiled: Compiled) -> Iterator[Tried]:
    lines = [line for line in sighted.log.lines if attempt.holds(line.file, line.number)]
    met = list(tried(lines, compiled))
    others = of_others([one.sighting for one in met], sighted.marks)
    for one in met:
        yield replace(one, sighting=as_told(one.sighting, others))


def _attempt(sighted: Sighted, attempt: Attempt) -> Iterator[str]:
    if len(sighted.attempts) > 1:
        spans = ", ".join(
            f"{sighted.log.files[file].name} {first}-{last}"
            for file, (first, last) in sorted(attempt.spans.items())
        )
        yield f"attempt {attempt.number} of {len(sighted.attempts)}: lines {spans}"


def _left_out(met: Iterable[Tried], found: Detected) -> Iterator[str]:
    """Tell what was met and does not count, or for less; alike reasons of one signal together."""
    alike: dict[tuple[str, str], list[Sighting]] = defaultdict(list)
    for one in met:
        if one.veto or one.sighting.doubt:
            alike[one.sighting.signal, _reason(one)].append(one.sighting)
    for sighting in (s for finding in found.findings for s in finding.sightings):
        if sighting.doubt == OUTLIVED:
            alike[sighting.signal, f"weakened to {sighting.strength}: {OUTLIVED}"].append(sighting)
    for sighting in found.survived:
        alike[sighting.signal, "left out: training went on after it"].append(sighting)
    for (signal, reason), own in alike.items():
        yield f"{signal} {reason} (line {own[0].line.number}{_times(len(own))})"


def _reason(one: Tried) -> str:
    if one.veto:
        return f"left out by {one.veto}"
    if not one.sighting.stands:
        return f"left out: {one.sighting.doubt}"
    return f"weakened to {one.sighting.strength}: {one.sighting.doubt}"


def _times(count: int) -> str:
    return f" and {count - 1} more" if count > 1 else ""


def _ranked(ranking: Ranking) -> Iterator[str]:
    for root in ranking.roots:
        yield (
            f"root: {root.cause} by {root.signal} ({root.strength}, {root.count} times, "
            f"line {root.first.number}): {root.summary}"
        )
    for item in ranking.explained:
        finding = item.finding
        yield (
            f"explained: {_called(finding)} ({finding.strength}, line {finding.first.number}) "
            f"through {_called(item.by)} ({item.edge})"
        )


def _refused(ranking: Ranking, compiled: Compiled) -> Iterator[str]:
    """Tell which edges of the rulebook between a root and the other findings did not hold."""
    findings = [*ranking.roots, *(item.finding for item in ranking.explained)]
    events = [Event(finding, finding.first) for finding in findings]
    relation = compiled.rulebook.relation
    told = (
        f"not explained: {_called(event.finding)} through {_called(by.finding)}: {reason}"
        for event in events[: len(ranking.roots)]
        for by in events
        if by is not event and (reason := why_not(by, event, relation))
    )
    yield from list(told)[:_MOST_REFUSED]


def _called(finding: Finding) -> str:
    return f"{finding.cause} by {finding.signal}"


def _ending(ending: Ending) -> str:
    if ending.finished and ending.line:
        who = "it merely looks so" if ending.finished == "hint" else f"says the {ending.finished}"
        return f"finished, {who} (line {ending.line.number})"
    if ending.failed:
        return f"failed, says a launcher (line {ending.failed.number})"
    return "nobody says how it ended"


def _why(verdict: Verdict, ranking: Ranking) -> str:
    if verdict.primary.cause == "Completed":
        return "for nothing that was found speaks against its end"
    if not ranking.roots:
        return "for nothing was found"
    if verdict.primary.signal is None:
        return "for what happened first has reasons that the log hides"
    first = next(root for root in ranking.roots if root.signal == verdict.primary.signal)
    others = [root for root in ranking.roots if root is not first]
    return f"for it {_before(first, others[0])}" if others else "the only root"


def _before(first: Finding, other: Finding) -> str:
    if first.strength != other.strength:
        return f"is a {first.strength} and {_called(other)} but a {other.strength}"
    if first.general != other.general:
        return f"is specific and {_called(other)} is not"
    return f"began before {_called(other)}"
