"""How sure a line sounds: what it fears, advises, denies or got over is no proof that it happened.

The words of a fault stand in settings, help texts and retries too. One reading serves all signals:
what speaks against a match is looked for in the sentence round it. Words that the signal's own
pattern spells out are its author's, and do not count against it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import re2

from app.detect.hearsay import hearsay
from app.detect.level import Level, level_at
from app.model import Strength
from app.rulebook.compiled import Met
from app.rulebook.signal import Doubt, Signal

_Down = dict[Strength, Strength | None]

_LONGEST = 400  # characters on either side that are read


@dataclass(frozen=True, slots=True)
class Objection:
    """What speaks against taking a line at its word, and the words that do."""

    kind: Doubt
    words: str

    def __str__(self) -> str:
        return f"{self.kind}: {' '.join(self.words.split())}"


def weigh(
    signal: Signal, met: Met, raw: str, rank: int | None = None
) -> tuple[Strength | None, Objection | None]:
    """Say how much a signal counts on a line, None for not at all, and what weakens it most.

    `raw` is the whole line, in whose head the level stands; `rank` is that which printed it.
    """
    worst: tuple[Strength | None, Objection | None] = signal.strength, None
    level = level_at(raw[: len(raw) - len(met.matched) - len(met.behind)])
    for objection in _objections(met, level, rank, general=signal.general):
        if objection.kind in signal.despite or _is_meant(objection, met.source):
            continue
        left = _left(signal, objection, level)
        if _weight(left) < _weight(worst[0]):
            worst = left, objection
    return worst


def speaks_against(met: Met) -> Objection | None:
    """Give what speaks against a match that no signal made, the level aside."""
    return next(_objections(met, None, None, general=False), None)


_RETRIED: _Down = {"proof": "clue", "clue": "echo"}
_QUIET: _Down = {"proof": "clue", "clue": "clue", "echo": "echo"}


def _left(signal: Signal, objection: Objection, level: Level | None) -> Strength | None:
    strength = signal.strength
    if strength == "context":
        return None if objection.kind == "denial" else "context"
    if objection.kind == "retry":
        return None if signal.general else _RETRIED.get(strength)
    if objection.kind in ("level", "rank"):
        return _QUIET.get(strength)
    # A fault that is logged as one may be put cautiously; a proof is then still worth a clue.
    cautious = objection.kind == "hedge" and strength == "proof"
    return "clue" if cautious and level == "error" else None


def _weight(strength: Strength | None) -> int:
    return ("context", "echo", "clue", "proof").index(strength) if strength else -1


def _objections(
    met: Met, level: Level | None, rank: int | None, *, general: bool
) -> Iterator[Objection]:
    """Find all that speaks against a match; a `general` signal falls by less."""
    quiet = level in ("info", "debug")
    before, behind = met.before[-_LONGEST:], met.behind[:_LONGEST]
    whole = f"{before}{met.matched}{behind}"
    if found := _counted_zero(before, met.matched, behind):
        yield Objection("denial", found)
    if (_ANY_GENERAL if general else _ANY).search(whole):
        if found := _denied(before, met.matched, general=general):
            yield Objection("denial", found)
        if found := _hedged(before, met.matched, behind, general=general):
            yield Objection("hedge", found)
        if found := _retried(whole, general=general):
            yield Objection("retry", found)
    if found := hearsay(before, behind, quiet=quiet):
        yield Objection("hearsay", found)
    if level in ("warning", "info", "debug"):
        yield Objection("level", level)
    if quiet and rank is not None:
        yield Objection("rank", f"rank {rank}, {level}")


# Ends of a sentence; a colon, behind which a logger's head or another topic is over.
_END = re.compile(r"[.;!?](?=\s)|:(?=\s)|\n")
_SENTENCE_END = re.compile(r"[.;!?](?=\s)|\n")
_BREAK = re.compile(r"[.,;:!?()\[\]{}](?=\s|$|[A-Za-z(\[])| - | which | that | this ")

# may be   might have   could be   if you see   to avoid   possible causes: …
_MAYBE = (
    r"may(?! \d)|might|could (?:be|have|also|indicate|mean|cause|lead)|can (?:be|cause|happen|lead)"
    r"|would|possibl[ey]|potential(?:ly)?|perhaps|maybe|probably|presumably"
)
_ADVICE = (
    r"if|unless|whenever|in case|for debugging|consider"
    r"|try(?:ing)? (?:to )?(?:set|us|reduc|increas)\w*"
    r"|(?:in order )?to (?:avoid|prevent|detect|guard|protect|handle|simulate|test)"
    r"|avoids?|prevents?|protects?|should (?:the|a|an|any|this|it|you)"
    r"|previous (?:run|attempt|job)|last (?:run|attempt)"
    r"|injected|injecting|simulat(?:ed|ing)|dry[- ]run|for example|e\.g\."
)
_GENERAL = (
    r"when|until|before|will be|will|would be|never|threshold|handler|enabled"
    r"|disabled|limit is|set to|configured|optional"
)
_BEFORE = re.compile(rf"(?i)(?<![\w'-])(?:{_MAYBE}|{_ADVICE})(?![\w'-])")
_ROUND_GENERAL = re.compile(rf"(?i)(?<![\w'-])(?:{_MAYBE}|{_ADVICE}|{_GENERAL})(?![\w'-])")
_BEHIND = re.compile(rf"(?i)(?<![\w'-])(?:{_MAYBE})(?![\w'-])")
_LIST = re.compile(
    r"(?i)\b(?:possible|potential|common|likely|root|usual) (?:root )?(?:causes?|reasons?)\b"
    r"|\breasons? (?:include|may|might|could)"
)


def _hedged(before: str, matched: str, behind: str, *, general: bool) -> str | None:
    """Find words of possibility, advice or condition in the sentence of a match."""
    words = _ROUND_GENERAL if general else _BEFORE
    own = before[_last(_END, before) :]
    found = words.search(own) or _LIST.search(before[_head_of_list(before) :])
    found = found or (words.search(matched) if general else None)
    found = found or (_ROUND_GENERAL if general else _BEHIND).search(
        behind[: _first(_BREAK, behind)]
    )
    return found[0] if found else None


# There are some potential root causes. (1) It was killed for memory. (2) It crashed.
_ITEM = re.compile(r"\s*(?:\(?(?:\d{1,2}|[a-z])\)|[-*•])\s")


def _head_of_list(before: str) -> int:
    """Give where the sentence of a match begins, or, for an item of a list, that of its heading."""
    begins = [0, *(found.end() for found in _SENTENCE_END.finditer(before))]
    place = len(begins) - 1
    while place and _ITEM.match(before, begins[place]):
        place -= 1
    return begins[place]


# no uncorrectable errors   without a single GPU error
_NONE = re.compile(
    r"(?i)(?<![\w.:/-])(?:no|zero|without|never|neither|nor|none of|free of|not an?)(?![\w'-])"
)
_FEW_WORDS = re.compile(r"(?: [\w-]+){0,3} ?\Z")
_NONE_INSIDE = re.compile(r"(?i)(?<![\w'-])(?:no|without|never|zero|none)(?![\w'-])")
# found 0 new ECC errors   errors: 0   failures = none   OOMKilled: false
_ZERO_BEFORE = re.compile(r"(?i)(?<![\w.:/-])0(?: [\w-]+){0,2} ?\Z")
_LONGEST_COUNTED = 20  # characters
_COUNTED = re.compile(r"(?i)(?:errors?|fail\w*|faults?|lost|counts?|timeouts?|killed|evicted)\Z")
_NEVER = re.compile(r"(?i) ?\(?\b(?:0|zero) times\b")
_ZERO_BEHIND = re.compile(
    r"(?i)(?:[ _](?:count|detected|found))?[\"']?(?: ?[:=] ?| )[\"']?"
    r"(?:0(?![\w.])|none\b|no\b|false\b|null\b|nil\b)"
)


def _denied(before: str, matched: str, *, general: bool) -> str | None:
    """Find words that say that it did not happen."""
    for found in _NONE.finditer(before):
        if _FEW_WORDS.match(before, found.end()):
            return found[0]
    inside = _NONE_INSIDE.search(matched) if general else None
    return inside[0] if inside else None


def _counted_zero(before: str, matched: str, behind: str) -> str | None:
    """Find a count that says that it happened never."""
    if never := _NEVER.match(behind):
        return never[0]
    if not _COUNTED.search(matched[-_LONGEST_COUNTED:]):
        return None
    found = _ZERO_BEFORE.search(before) or _ZERO_BEHIND.match(behind)
    return found[0] if found else None


_RETRY = re.compile(
    r"(?i)\bretrying\b|\b(?:will|to|we) (?:be )?(?:retry|retried|try again|reconnect)"
    r"|\bretry (?:in|after|attempt|number|no\.|#)|\breconnecting\b|\bback(?:ing)?[- ]?off\b"
    r"|\b(?:recovered|ignored|ignoring|suppressed|suppressing|skipped|skipping|falling back"
    r"|continuing|carrying on|going on)\b|\bsucceeded (?:after|on|at)\b"
    r"|\b(?:attempt|retry|try)(?: number)?[ #:=]{0,2}(?P<now>\d{1,4})(?: ?/ ?| of | out of )"
    r"(?P<of>\d{1,4})\b"
)
_RETRY_GENERAL = re.compile(
    rf"{_RETRY.pattern}|\bretr(?:y|ies|ied)\b|\battempt(?:s|ed)?\b(?! to access\b| to use\b)"
)
_GAVE_UP = re.compile(
    r"(?i)\b(?:giv(?:e|es|ing)|gave) up\b|\bexhausted\b|\bno (?:more )?retr|\bnot (?:be )?retr"
    r"|\bretr(?:y|ies) (?:count |limit )?(?:exceeded|failed)|\b(?:cannot|not|unable to) recover"
    r"|\bmax(?:imum)? (?:number of )?(?:retries|attempts)|\bwithout retry|\bException ignored in\b"
)


def _retried(text: str, *, general: bool) -> str | None:
    """Find words that say that the printer goes on."""
    if _GAVE_UP.search(text):
        return None
    for found in (_RETRY_GENERAL if general else _RETRY).finditer(text):
        if found["now"] is None or int(found["now"]) < int(found["of"]):
            return found[0]
    return None


def _loose(*patterns: re.Pattern[str]) -> "re2._Regexp":
    """Join patterns without what stands round their words, for the engine that is fast."""
    sources = (re.sub(r"\(\?<?[!=][^)]*\)|\(\?i\)", "", pattern.pattern) for pattern in patterns)
    return re2.compile("(?i)" + "|".join(f"(?:{source})" for source in sources))


# Few lines hold any of these words, and one look tells.
_ANY = _loose(_BEFORE, _LIST, _NONE, _RETRY)
_ANY_GENERAL = _loose(_ROUND_GENERAL, _LIST, _NONE_INSIDE, _NONE, _RETRY_GENERAL)


def _last(border: re.Pattern[str], text: str) -> int:
    return max((found.end() for found in border.finditer(text)), default=0)


def _first(border: re.Pattern[str], text: str) -> int:
    found = border.search(text)
    return found.start() if found else len(text)


_WORD = re.compile(r"[a-z]{2,}")
_SMALL = frozenset({"an", "at", "be", "in", "of", "on", "out", "the", "to", "we"})


def _is_meant(objection: Objection, source: str) -> bool:
    """Say whether a pattern names one of the words itself; none can mean another run."""
    words = set(_WORD.findall(objection.words.lower())) - _SMALL
    return objection.kind != "hearsay" and not _spelled(source).isdisjoint(words)


@cache
def _spelled(source: str) -> frozenset[str]:
    return frozenset(_WORD.findall(re.sub(r"\\[A-Za-z]", " ", source).lower()))
