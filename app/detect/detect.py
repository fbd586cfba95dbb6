"""From the kept lines of a log to what each of its attempts shows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from math import isfinite

from app.detect.attempts import cut
from app.detect.awaited import awaited
from app.detect.clocks import bounded
from app.detect.deaths import with_silent_deaths
from app.detect.enclosing import that_count
from app.detect.ending import ending
from app.detect.exception import Raised
from app.detect.findings import group
from app.detect.health import health
from app.detect.leads import leads
from app.detect.locate import exits, locate
from app.detect.logged import with_last_words
from app.detect.meaning import understand, understand_mentioned
from app.detect.mentioned import find_mentioned
from app.detect.onward import with_onward
from app.detect.quoted import without_quoted
from app.detect.recalled import with_recalled
from app.detect.reported import reported
from app.detect.reports import with_reports_apart
from app.detect.retried import without_retried
from app.detect.routine import without_routine
from app.detect.signals import is_benign, marks, sight
from app.detect.strangers import as_told, of_others, unheard_of
from app.detect.survived import without_survived
from app.detect.traceback import find_raised
from app.detect.turns import with_turns
from app.detect.windows import with_windows
from app.detect.wreckage import without_wreckage
from app.located import Located
from app.model import (
    Attempt,
    Compressed,
    Detected,
    Job,
    Line,
    Marked,
    Point,
    Sighting,
)
from app.rulebook.compiled import Compiled

_LAST_LINES = 200  # of a file: some screens, more than any program prints once it is done


@dataclass(frozen=True, slots=True)
class Sighted:
    """Everything that was met in a log, and the attempts into which it falls."""

    log: Compressed
    sightings: tuple[Sighting, ...]
    marks: tuple[Marked, ...]
    attempts: tuple[Attempt, ...]
    located: Located
    counting: tuple[Line, ...] = ()  # what may be several trainings, see `enclosing`


def look(log: Compressed, compiled: Compiled) -> Sighted:
    """Prove the scan's candidates over the whole log and cut it into attempts."""
    log = _without_quoted_losses(replace(log, lines=bounded(log.lines)), compiled)
    whole = without_quoted(marks(log.lines, compiled), log.lines, log.points)
    log, marked = with_reports_apart(log, whole)
    sightings = met(log.lines, marked, compiled)
    attempts, located = cut(log, marked, sightings), locate(log.lines, marked)
    return Sighted(log, sightings, marked, attempts, located, that_count(log.lines))


def met(
    lines: Sequence[Line], marked: Sequence[Marked], compiled: Compiled
) -> tuple[Sighting, ...]:
    """Find the signals that lines meet, and what the exceptions mean that were raised on them."""
    on_lines = sight(lines, compiled)
    others = {*of_others(on_lines, marked), *unheard_of(on_lines, lines)}
    on_lines = tuple(as_told(sighting, others) for sighting in on_lines)
    harmless = partial(is_benign, compiled=compiled)
    raised = [_as_told(one, marked) for one in find_raised(lines, harmless)]
    sightings = understand(raised, on_lines, compiled)
    mentioned = find_mentioned(lines, raised, harmless)
    return understand_mentioned(mentioned, sightings, compiled)


def _as_told(raised: Raised, marked: Sequence[Marked]) -> Raised:
    """Take a thread that died behind a plain word of the end for one that was left behind."""
    is_left = raised.ended_a_thread and any(
        mark.kind == "finished"
        and mark.grade in ("trainer", "wrapper")
        and mark.line.file == raised.line.file
        and mark.line.number < raised.line.number
        for mark in marked
    )
    return replace(raised, kind="logged") if is_left else raised


def _without_quoted_losses(log: Compressed, compiled: Compiled) -> Compressed:
    """Leave out losses that are no number on harmless lines, such as the source of a check."""
    broken = {(p.file, p.number) for p in log.points if p.loss and not isfinite(p.loss)}
    lines = (line for line in log.lines if (line.file, line.number) in broken)
    quoted = {(line.file, line.number) for line in lines if is_benign(line, compiled)}
    if not quoted:
        return log
    points = tuple(p for p in log.points if (p.file, p.number) not in quoted)
    return replace(log, points=points)


def detect(sighted: Sighted, attempt: Attempt, compiled: Compiled, job: Job) -> Detected:
    """Find what one attempt shows."""
    log = sighted.log
    own_points: Sequence[Point] = [p for p in log.points if attempt.holds(p.file, p.number)]
    own_marks = [m for m in sighted.marks if attempt.holds(m.line.file, m.line.number)]
    shown = [s for s in sighted.sightings if attempt.holds(s.line.file, s.line.number)]
    own = with_windows(shown, own_points, compiled)
    ended = exits(own_marks)
    lines = [line for line in log.lines if attempt.holds(line.file, line.number)]
    heard = _without_asides(lines, shown, compiled)
    end = ending(own_marks, own_points, heard, log.lines, sighted.counting)
    if attempt is sighted.attempts[-1]:
        end = with_turns(end, sighted.marks, log.points, log.lines)
    own = with_last_words(own, own_points, ended, end, compiled)
    end = with_onward(end, lines, own_points, own_marks, own)
    finished = end.finished == "trainer"
    own, retried = without_retried(own, own_points, lines, compiled)
    standing, survived = without_survived(own, own_points, compiled, finished=finished)
    standing, survived = with_recalled(standing, (*retried, *survived))
    standing = without_wreckage(standing, compiled)
    standing = with_silent_deaths(without_routine(standing, survived), ended, compiled)
    found = group(standing, compiled)
    trained_before = len(own_points) < len(log.points) and attempt is not sighted.attempts[0]
    ill, remarks = health(own_points, lines, end, found, own_marks, trained_before=trained_before)
    if survived:
        told = f"{len(survived)} warnings that training survived were left aside"
        remarks = (*remarks, told)
    return Detected(
        findings=(*found, *ill, *reported(job)),
        ending=end,
        located=_located(lines, own_marks, sighted),
        context=tuple(s for s in own if s.strength == "context"),
        exits=ended,
        saved=tuple(m for m in own_marks if m.kind == "saved"),
        steps=_steps_made(own_points),
        remarks=remarks,
        survived=survived,
        leads=leads(lines, own_marks, own_points),
        awaited=awaited(lines, own_points, found),
    )


def _without_asides(
    lines: Sequence[Line], sightings: Sequence[Sighting], compiled: Compiled
) -> list[Line]:
    """Leave out what says nothing of an end: facts beside the job, and harmless lines at the end.

    Only the last lines of each file are asked whether they are harmless, which takes long.
    """
    aside = {(s.line.file, s.line.number) for s in sightings if s.strength == "context"}
    left: list[Line] = []
    behind: Counter[int] = Counter()
    for line in reversed(lines):
        behind[line.file] += 1
        last = behind[line.file] <= _LAST_LINES
        if (line.file, line.number) not in aside and not (last and is_benign(line, compiled)):
            left.append(line)
    return left[::-1]


def _located(lines: Sequence[Line], marks: Sequence[Marked], sighted: Sighted) -> Located:
    """Where ranks ran in this attempt; a rank may have moved since an earlier one."""
    own, whole = locate(lines, marks), sighted.located
    if not (own.host_of_rank or own.only_host):
        return whole
    return replace(
        own,
        host_of_ip={**whole.host_of_ip, **own.host_of_ip},
        rank_of_stream={**whole.rank_of_stream, **own.rank_of_stream},
        rank_of_gpu={**whole.rank_of_gpu, **own.rank_of_gpu},
        sections=whole.sections,
        first_rank=whole.first_rank if own.first_rank is None else own.first_rank,
    )


def _steps_made(points: Sequence[Point]) -> int:
    """The last step's number, or how many were seen where numbers begin anew or are not told.

    Each rank tells of the same steps. Where they print into one file without their names, the same
    number comes several times in a row, and counts once.
    """
    steps = {point.step for point in points if point.step is not None}
    seen: dict[tuple[int, int | None], list[int | None]] = {}
    for point in points:
        if point.loss is not None:
            seen.setdefault((point.file, point.rank), []).append(point.step)
    return max(len(steps), max(steps, default=0), *map(_in_turn, seen.values()), 0)


def _in_turn(steps: Sequence[int | None]) -> int:
    return sum(len(list(same)) if step is None else 1 for step, same in groupby(steps))
