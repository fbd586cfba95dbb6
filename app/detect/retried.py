"""Leave aside what a program caught and tried anew, by its own words, and worked on after.

    CUDA out of memory. …        Decreasing batch size to: 12.        {'loss': 1.2, …}
    1 Workers killed due to memory pressure        task resubmitted (1/3)        step:4 - …

Without such words many steps must follow before a failure counts as survived, since buffers hold
some back. With them a few do. What nobody could have caught is left as it is.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

from app.model import Line, Point, Sighting
from app.rulebook.compiled import Compiled

_SOON = 5  # lines behind the failure
_GONE_ON = 2  # different steps behind the word
_OF_MANY = frozenset({"DataloaderKilled", "HostOutOfMemory", "NativeCrash", "OutOfMemoryError"})
_PIECE = r"(?:task|worker|actor|batch|item|sample|request|rollout|shard|step|episode|env)"
_AGAIN = re.compile(
    r"(?i)\b(?:decreas|reduc|lower|halv|shrink)\w*\s+(?:\w+[ _-]){0,3}?(?:micro)?batch[ _-]?size"
    r"|\b(?:micro)?batch[ _-]?size\b.{0,40}\b(?:decreased|reduced|lowered|halved)\b"
    r"|\bgradient accumulation (?:steps )?(?:is |was |will be )?increased\b"
    rf"|\b{_PIECE}s?\b.{{0,60}}\b(?:re-?(?:submitted|scheduled|queued|started|tried|run|launched|spawned))\b"
    r"|\b(?:re-?(?:submitting|scheduling|queue?ing|starting|trying|running|launching|spawning))\b"
    rf".{{0,60}}\b(?:{_PIECE}s?|with (?:a )?(?:smaller|half|lower|reduced))\b"
    r"|\b(?:attempting|trying) to recover from\b|\btrying again\b"
    r"|\btrying (?:a )?(?:smaller |lower |new )?batch[ _-]?size\b|\bfalling back to\b"
    r"|\bretrying (?:after|once|now|in \d)"
    rf"|\bskipp(?:ing|ed) (?:this |the )?{_PIECE}\b"
    rf"|\b{_PIECE} will be re(?:tried|trained|run)\b"
)
_GAVE_UP = re.compile(
    r"(?i)\b(?:no|0|zero|without) (?:more |further )?(?:retries|attempts|tries)\b|\bgiving up\b"
    r"|\bnot (?:be )?(?:re-?tr|re-?start|re-?sub|re-?run)|exhausted|exceeded"
    r"|\b(?:if|would|consider|try|please|set|to) (?:you |be )?(?:decreas|reduc|lower|restart|retry)"
)


def without_retried(
    sightings: Sequence[Sighting],
    points: Iterable[Point],
    lines: Sequence[Line],
    compiled: Compiled,
) -> tuple[tuple[Sighting, ...], tuple[Sighting, ...]]:
    """Return what is left, and what was tried anew with success."""
    said: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        if _AGAIN.search(line.text) and not _GAVE_UP.search(line.text):
            said[line.file].append(line)
    if not said:
        return tuple(sightings), ()
    steps: dict[int, list[Point]] = defaultdict(list)
    for point in points:
        if not point.evaluates and (point.step is not None or point.loss is not None):
            steps[point.file].append(point)
    left: list[Sighting] = []
    retried: list[Sighting] = []
    for sighting in sightings:
        word = _word_behind(sighting.line, said) if _is_caught(sighting, compiled) else None
        again = word is not None and _goes_on(steps[word.file], word.number)
        (retried if again else left).append(sighting)
    return tuple(left), tuple(retried)


def _is_caught(sighting: Sighting, compiled: Compiled) -> bool:
    """Say whether somebody may have caught it, or it befell one of many that do the work."""
    if sighting.strength == "context":
        return False
    cause = compiled.rulebook.signal_named[sighting.signal].cause
    return cause in _OF_MANY and (sighting.survivable or "frame" not in sighting.facts)


def _word_behind(line: Line, said: dict[int, list[Line]]) -> Line | None:
    own = said.get(line.file, [])
    place = bisect_left(own, line.number, key=lambda word: word.number)
    for word in own[place:]:
        if word.number - line.number > _SOON:
            return None
        if line.rank in (None, word.rank) or word.rank is None:
            return word
    return None


def _goes_on(points: Sequence[Point], number: int) -> bool:
    behind = (p for p in points if p.number > number)
    return len({(p.step, p.loss, p.step is None and p.text) for p in behind}) >= _GONE_ON
