"""Try one rule on one log: what it meets, and how the judge sees it there."""

from collections.abc import Iterator
from pathlib import Path

from app.detect.detect import detect, look
from app.detect.signals import facts_on, is_benign
from app.errors import UsageError
from app.judge.primary import rank
from app.model import Job
from app.pipeline import Limits, compressed
from app.rulebook.compiled import Compiled


def lines_met(rule: str, path: Path, compiled: Compiled) -> Iterator[str]:
    """Give each kept line that a pattern of the rule meets, with facts and vetoes."""
    owners = _sources(rule, compiled)
    log = compressed([path], compiled, Limits())
    for line in log.lines:
        for name, source, unless in owners:
            facts = facts_on(line, source, compiled)
            if facts is None:
                continue
            veto = "  (vetoed by `unless`)" if unless and compiled.holds(unless, line.raw) else ""
            veto = veto or ("  (vetoed: benign)" if is_benign(line, compiled) else "")
            told = " ".join(f"{key}={value}" for key, value in facts.items())
            yield f"{line.number}: {name} {told}{veto}\n    {line.raw[:300]}"


def relations(rule: str, path: Path, compiled: Compiled) -> Iterator[str]:
    """Tell for the last attempt which findings are there, and who explains whom."""
    sighted = look(compressed([path], compiled, Limits()), compiled)
    found = detect(sighted, sighted.attempts[-1], compiled, Job())
    ranking = rank(found.findings, compiled.rulebook)
    yield ""
    for root in ranking.roots:
        yield (
            f"root: {root.cause} by {root.signal} ({root.strength}, {root.count}x, "
            f"line {root.first.number}): {root.summary}"
        )
    for item in ranking.explained:
        finding = item.finding
        yield (
            f"explained: {finding.cause} by {finding.signal} (line {finding.first.number}) "
            f"through {item.by.cause} by {item.by.signal} ({item.edge})"
        )


def _sources(rule: str, compiled: Compiled) -> list[tuple[str, str, str | None]]:
    book = compiled.rulebook
    found = [
        (signal.name, source, signal.unless)
        for signal in book.signals
        if rule in (signal.name, signal.cause)
        for source in signal.match
    ]
    found += [(m.name, s, m.unless) for m in book.marks if m.name == rule for s in m.match]
    found += [(f.name, s, None) for f in book.filters if f.name == rule for s in f.match]
    found += [(b.name, s, b.unless) for b in book.benign if b.name == rule for s in b.match]
    known = {signal.name for signal in book.signals} | set(book.causes)
    if not found and rule not in known:
        raise UsageError(f"{rule}: no cause, signal, mark, filter or benign line has this name")
    return found
