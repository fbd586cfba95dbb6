"""A diagnosis as text for a person: what broke, where, what to do; then the grounds.

A reader at night wants the first screen to be enough, so the plan stands above the evidence and
what is only a consequence comes last. Lines of a log are never folded: where the width is known
they are cut at its edge, else (in a pipe) they are whole. What a log holds may not steer the
terminal: characters that do not print are replaced.
"""

from collections.abc import Iterator
from dataclasses import replace

from app.answer import notes
from app.cli.page import Mark, Page
from app.located import Suspect
from app.model import Confidence, Diagnosis, ExplainedCause, Plan, Primary, Verdict
from app.opinion import Opinion, Weight

_MOST_SUSPECTS = 4
_MOST_STORIES = 8
_CONTEXT = "context"
_WEIGHTS: dict[Weight, str] = {
    "agrees": "it agrees with the rules",
    "chooses": "it chose among the causes that the rules found",
    "names": "no rule does",
    "none": "it changed nothing",
}
_GRADES: dict[Confidence, Mark] = {"high": "good", "medium": "fair", "low": "poor"}


def show(found: Diagnosis, page: Page) -> None:
    """Write the answer on a page."""
    verdict = found.verdict
    _head(verdict.primary, page)
    _where(verdict, page)
    _what_to_do(found.plan, page)
    several = len(found.log.files) > 1
    _evidence(verdict, several, page)
    _consequences(verdict, several, page)
    _rest(found, several, page)


def _head(primary: Primary, page: Page) -> None:
    page.line(
        page.marked(primary.cause, "strong"),
        f" · {primary.domain} · confidence ",
        page.marked(primary.confidence, _GRADES[primary.confidence]),
    )
    page.prose(primary.summary)


def _where(verdict: Verdict, page: Page) -> None:
    if verdict.suspects:
        page.heading("Where")
    for suspect in verdict.suspects[:_MOST_SUSPECTS]:
        page.prose(f"{_place(suspect)} ({suspect.why})", indent=2)
    hidden = len(verdict.suspects) - _MOST_SUSPECTS
    if hidden > 0:
        page.prose(f"and {hidden} more", indent=2)


def _place(suspect: Suspect) -> str:
    known = (
        ("host", suspect.host),
        ("rank", suspect.rank),
        ("GPU", suspect.gpu),
        ("NIC", suspect.nic),
    )
    return ", ".join(f"{name} {value}" for name, value in known if value is not None) or "unknown"


def _what_to_do(plan: Plan, page: Page) -> None:
    advice = "an automatic restart is right" if plan.restart else "no automatic restart"
    page.heading("What to do", "" if plan.action == "none" else f"{plan.action}; {advice}")
    for number, step in enumerate(plan.steps, 1):
        alone = len(plan.steps) == 1
        page.prose(step if alone else f"{number}. {step}", indent=2, hang=0 if alone else 3)
    if plan.commands:
        page.heading("Commands", "shown, never run")
    for command in plan.commands:
        page.whole(command, indent=2)


def _evidence(verdict: Verdict, several: bool, page: Page) -> None:
    said = {f"{item.cause}, explained by {item.by}" for item in verdict.explained} | {_CONTEXT}
    own = [item for item in verdict.evidence if item.why not in said]
    if own:
        page.heading("Evidence", "" if several else own[0].file)
    why = ""
    for item in own:
        if item.why != why and item.why not in verdict.primary.summary:
            page.prose(f"{item.why}:", indent=2)
        why = item.why
        page.quote(_spot(item.file, item.line, several), item.text)


def _consequences(verdict: Verdict, several: bool, page: Page) -> None:
    """Tell the loud lines that are not the cause, those of one cause together."""
    stories = _stories(verdict)
    if stories:
        page.heading("Not the cause")
    text = {(item.file, item.line): item.text for item in verdict.evidence}
    for first, count in stories[:_MOST_STORIES]:
        name = page.marked(_named(first.cause), "strong")
        page.line("  ", name, f"{_times(count)}: follows from {_named(first.by)}")
        quote = text.get((first.file, first.first_line))
        if quote is not None:
            page.quote(_spot(first.file, first.first_line, several), quote, faint=True)
    rivals = [root for root in verdict.other_roots if root.cause != verdict.primary.cause]
    if rivals:
        page.heading("Also in the log", "nothing above explains it")
    for root in rivals:
        spot = _spot(root.file, root.first_line, several)
        page.line(
            "  ",
            page.marked(_named(root.cause), "strong"),
            f"{_times(root.count)}: {root.strength}, first at {spot}",
        )


def _named(cause: str) -> str:
    return "a process that ended" if cause == "Unknown" else cause


def _times(count: int) -> str:
    return f" ({count} lines)" if count > 1 else ""


def _stories(verdict: Verdict) -> list[tuple[ExplainedCause, int]]:
    """Join what different signals say of one cause: its first line, the count of all.

    Of several explanations the primary cause is the one that a reader looks for.
    """
    joined: dict[str, tuple[ExplainedCause, int]] = {}
    for item in verdict.explained:
        if item.cause == verdict.primary.cause:
            continue
        first, count = joined.get(item.cause, (item, 0))
        by = first.by if first.by == verdict.primary.cause else item.by
        earlier = min(first, item, key=lambda one: (one.file, one.first_line))
        joined[item.cause] = (replace(earlier, by=by), count + item.count)
    return list(joined.values())


def _rest(found: Diagnosis, several: bool, page: Page) -> None:
    if found.attempts:
        page.heading("Earlier attempts")
    for attempt in found.attempts:
        where = f" of {attempt.file}" if several else ""
        first, last = attempt.lines
        page.prose(f"{attempt.number}. {attempt.cause}, lines {first}-{last}{where}", indent=2)
    if found.recalled.precedents:
        page.heading("Seen before")
    for one in found.recalled.precedents:
        said = "confirmed" if one.confirmed else "not confirmed"
        page.prose(f"{one.cause} ({said}), {one.similarity:.0%} alike: {one.id}", indent=2)
    _opinion(found.opinion, several, page)
    remarks = [*found.verdict.remarks, *notes(found)]
    if remarks:
        page.heading("Remarks")
    for remark in remarks:
        page.prose(remark, indent=2)
    page.line()
    page.line(page.marked(" · ".join(_figures(found)), "faint"))


def _opinion(said: Opinion | None, several: bool, page: Page) -> None:
    """Tell what a language model says, as far as the log bears it out."""
    if said is None:
        return
    page.heading("A language model says", _WEIGHTS[said.weight])
    page.prose(f"{said.cause}, {said.confidence}. Against it: {said.against}", indent=2)
    for quote in said.quotes:
        page.quote(_spot(quote.file, quote.line, several), quote.text)
    if said.struck:
        page.prose(f"{len(said.struck)} of its quotes do not count", indent=2)


def _figures(found: Diagnosis) -> Iterator[str]:
    log = found.log
    if len(log.files) > 1:
        yield f"{len(log.files)} files"
    yield f"{log.lines:,} lines, {log.bytes:,} bytes"
    yield f"{log.kept_lines:,} lines of {log.templates:,} kinds not routine"
    yield f"{log.seconds:.1f} s"


def _spot(file: str, line: int, several: bool) -> str:
    return f"{file}:{line}" if several else f"line {line}"
