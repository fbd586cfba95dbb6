"""The second step of a diagnosis: ask a model where the rules leave a doubt, and judge again.

What the model says is an opinion. Its quotes are looked up in the log, the rules weigh it, and the
action is theirs. Whatever goes wrong with the model, the first verdict stands and says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.compress.cut import cut
from app.errors import ModelError, SourceError, StoreError
from app.incident import Snippet
from app.judge.admissible import Grounds
from app.judge.in_doubt import in_doubt
from app.judge.opinion import Weighed, weigh
from app.memory.snippet import with_quotes
from app.model import Diagnosis, Line, Plan
from app.opinion import Asked, Opinion, Quoted
from app.pipeline import Case
from app.read.original import Original, Printed
from app.read.source import Source
from app.reason.failure_agent import FailureAgent, Heard, Matter
from app.reason.forms import More
from app.reason.ground import ground
from app.reason.matter import causes, findings, precedents
from app.recover.opinion import by_opinion, cautious
from app.recover.plan import plan
from app.rulebook.pattern import parse
from app.rulebook.rulebook import OUTCOMES

_DIGEST_TOKENS = 6000
_WIDE_TOKENS = 16_000  # a window with room for the meaning of every cause beside a whole digest
_LOOK_SECONDS = 20.0  # to look a thing up in the files
_MOST_LINES = 80  # of what is shown in addition
_LONGEST = 500
_LINE_BYTES = 1 << 36

Fetch = Callable[[], Sequence[Source]]
"""Finds the files of a log that was judged without them; raises SourceError, StoreError."""


def consult(
    case: Case,
    agent: FailureAgent,
    *,
    diagnosis_id: str | None = None,
    digest_tokens: int = _DIGEST_TOKENS,
    fetch: Fetch | None = None,
) -> Diagnosis:
    """Give the diagnosis after a model was heard; without a doubt it stays as it is.

    `fetch` is called where the model wants to look into a log of which only some lines are kept.
    """
    first = case.diagnosis
    if not in_doubt(first.verdict):
        return first
    asked = Asked(agent.model, agent.prompts)
    files = _Files(case, fetch)
    try:
        heard = agent.ask(_matter(case, files, digest_tokens, agent.context_tokens), diagnosis_id)
    except ModelError as error:
        note = f"the language model gave no answer ({error.fault}): {error}; this is what rules say"
        return replace(first, asked=replace(asked, note=note))
    opinion = _grounded(heard, case, files)
    rules = case.compiled.rulebook
    log = case.sighted.log
    grounds = Grounds(case.detected, case.root, log.files, first.job, rules, log.lines, log.points)
    weighed = weigh(first.verdict, opinion, grounds, first.method)
    return replace(
        first,
        verdict=weighed.verdict,
        plan=_plan(weighed, case),
        snippet=_snippet(weighed, first.snippet),
        method=weighed.method,
        opinion=weighed.opinion,
        asked=asked,
    )


def _matter(case: Case, files: "_Files", digest_tokens: int, context_tokens: int) -> Matter:
    rules = case.compiled.rulebook
    stable = {cause.name for cause in rules.causes.values() if cause.status == "stable"}
    return Matter(
        causes=causes(rules, brief=context_tokens < _WIDE_TOKENS),
        names=stable | set(OUTCOMES),
        findings=findings(case.diagnosis, case.detected, case.sighted.log),
        precedents=precedents(case.diagnosis.recalled.precedents),
        digest=case.digest,
        look=files.shown,
        digest_tokens=digest_tokens,
    )


def _grounded(heard: Heard, case: Case, files: "_Files") -> Opinion:
    reply = heard.reply
    attempt = case.sighted.attempts[-1]
    standing, struck = ground(
        reply.quotes,
        files.near,
        heard.restore,
        lambda quote: attempt.holds(files.index(quote.file), quote.line),
        {*case.compiled.rulebook.causes, *OUTCOMES},
    )
    return Opinion(reply.cause, reply.confidence, standing, reply.against, struck)


def _snippet(weighed: Weighed, told: Snippet) -> Snippet:
    """Take what memory is to keep: where a model named the cause, the lines that it quotes too."""
    if weighed.opinion.weight != "names":
        return told
    return with_quotes(told, [quote.text for quote in weighed.opinion.quotes])


def _plan(weighed: Weighed, case: Case) -> Plan:
    """Leave the plan where the model agrees or counts nothing; else advise with caution."""
    rules, first = case.compiled.rulebook, case.diagnosis
    match weighed.opinion.weight:
        case "names":
            return by_opinion(weighed.verdict, rules)
        case "chooses":
            made = plan(weighed.verdict, weighed.root, rules, first.job, case.course)
            return made if weighed.verdict.primary.cause == "Completed" else cautious(made)
        case _:
            return first.plan


class _Files:
    """The lines of the log: those that were kept, and the others read once more."""

    def __init__(self, case: Case, fetch: Fetch | None) -> None:
        log = case.sighted.log
        self._names = [file.name for file in log.files]
        self._kept: dict[int, list[Line]] = {}
        for line in log.lines:
            self._kept.setdefault(line.file, []).append(line)
        self._points = {(p.file, p.number): p.text for p in log.points if p.text}
        self._fetch = fetch
        self._original = self._read_from(case.sources)

    def _read_from(self, found: Sequence[Source]) -> Original:
        return Original(found, _LINE_BYTES, _LOOK_SECONDS)

    def index(self, name: str) -> int:
        """Give the place of a file among all."""
        return self._names.index(name)

    def near(self, name: str | None, first: int, last: int) -> Sequence[Quoted]:
        """Give the lines between two numbers, of a file or of all."""
        return [
            Quoted(self._names[line.file], line.number, line.text)
            for file in self._meant(name)
            for line in self._window(file, first, last)
        ]

    def shown(self, more: More) -> str:
        """Write what a model wants to see in addition."""
        if self._fetch is not None:
            try:
                self._original = self._read_from(self._fetch())
            except (SourceError, StoreError):  # of the store: no room for a copy
                return "the log cannot be read: there are no lines but those of the digest\n"
        found: list[Printed] = []
        told = ""
        for file in self._meant(more.file):
            room = _MOST_LINES - len(found)
            if room <= 0:
                break
            if more.pattern is not None:
                met, count = self._original.search(file, parse(more.pattern), room)
                found += met
                told += f"{count} lines of {self._names[file]} match\n" if count else ""
            else:
                first, last = more.first_line or 1, more.last_line or 1
                end = min(last, first + room - 1)
                window = self._window(file, first, end)
                found += window
                if window and end < last:
                    told += f"of these lines only {first} to {end} are shown\n"
        return told + "".join(map(self._row, found)) or "no line of the log is like that\n"

    def _row(self, line: Printed) -> str:
        name = f"{self._names[line.file]}:" if len(self._names) > 1 else ""
        return f"{name}{line.number}: {cut(line.text, _LONGEST)}\n"

    def _meant(self, name: str | None) -> list[int]:
        """Find the file that is meant; one that is not there may be any."""
        meant = [index for index, own in enumerate(self._names) if own == name]
        return meant or list(range(len(self._names)))

    def _window(self, file: int, first: int, last: int) -> list[Printed]:
        read = self._original.window(file, first, last)
        if read:
            return read
        kept = [
            Printed(file, line.number, line.raw)
            for line in self._kept.get(file, ())
            if first <= line.number <= last
        ]
        progress = [
            Printed(file, number, text)
            for (of, number), text in self._points.items()
            if of == file and first <= number <= last
        ]
        return [*kept, *progress]
