"""Small rulebooks, lines, sightings and findings for tests, in memory or as a folder of rules."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from app.model import Finding, Line, Sighting, Strength
from app.rulebook.cause import Cause, DomainForm
from app.rulebook.compiled import Compiled
from app.rulebook.lines import BenignForm, MarkForm
from app.rulebook.pattern import parse
from app.rulebook.rulebook import Rulebook
from app.rulebook.signal import Signal

FOLDER = {
    "causes/plant/_domain.yaml": """\
title: The plant
summary: Things that stand in the hall.
explains:
  if_earlier: [Waiting]
""",
    "causes/plant/PumpFault.yaml": """\
title: A pump failed
summary: The pump stood still.
explains:
  always:
    - of: Waiting
      scope: same_host
recovery:
  action: cordon_and_restart
  steps: ['Drain {host}.']
examples:
  - name: it leaks
    primary: PumpFault
    log: pump 3 leaks
""",
    "causes/plant/Waiting.yaml": """\
title: Somebody waited
summary: A rank waited too long.
recovery:
  action: restart
  steps: Restart.
""",
    "signals/pump.yaml": """\
title: The pump's own words
summary: What the controller prints.
signals:
  - name: pump_leaks
    cause: PumpFault
    strength: proof
    match: 'pump (?P<pump>\\d+) leaks'
    says: pump {pump} leaks
    hits: 'pump 3 leaks'
    misses: 'pump 3 runs'
  - name: waited_long
    cause: Waiting
    strength: clue
    match: 'waited (?P<timeout_s>\\d+) s for the pump'
    says: waited for {timeout_s} seconds
    hits: 'waited 30 s for the pump'
    misses: 'waited for the pump'
""",
    "benign/drips.yaml": """\
title: Drips
summary: Drips do no harm.
lines:
  - name: one_drip
    match: 'pump \\d+ leaks one drip'
    says: a drip
    hits: 'pump 3 leaks one drip'
    misses: 'pump 3 leaks'
""",
    "filters/gauges.yaml": """\
title: Gauges
summary: Readings that nobody needs.
do: drop
match: '^gauge \\d+ reads'
hits: 'gauge 7 reads 12'
misses: 'gauge 7 broke'
""",
    "marks/hall.yaml": """\
title: The hall
summary: Where the work stands.
marks:
  - name: hall_opens
    kind: start
    match: 'the hall opens'
    hits: 'the hall opens'
    misses: 'the hall is open'
""",
}


def write_rules(folder: Path, changed: Mapping[str, str | None] | None = None) -> Path:
    """Write the rules above with some files changed, added, or left out (None)."""
    for name, text in {**FOLDER, **(changed or {})}.items():
        if text is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return folder


def a_cause(
    name: str,
    domain: str = "plant",
    action: str = "restart",
    steps: Sequence[str] = ("Look.",),
    **explains: Sequence[object],
) -> Cause:
    """Make a cause; edges are given as `always` and `if_earlier`."""
    return Cause.model_validate(
        {
            "name": name,
            "domain": domain,
            "title": f"{name} came about",
            "summary": f"What {name} means.",
            "explains": explains,
            "recovery": {"action": action, "steps": steps},
        }
    )


def a_signal(
    name: str, cause: str, match: str | Sequence[str] | None = None, **fields: object
) -> Signal:
    """Make a signal, proof unless told otherwise; without a pattern it looks for its own name."""
    way = {} if "exception" in fields else {"match": match or re.escape(name)}
    made = {"name": name, "cause": cause, "strength": "proof", "says": f"saw {name}", **way}
    return Signal.model_validate({"emitter": "plant", **made, **fields})


def a_mark(name: str, kind: str, match: str | Sequence[str], **fields: object) -> MarkForm:
    return MarkForm.model_validate({"name": name, "kind": kind, "match": match, **fields})


def benign(match: str, unless: str | Sequence[str] = ()) -> BenignForm:
    made = {"name": "harmless", "match": match, "unless": unless, "says": "it is harmless"}
    return BenignForm.model_validate(made)


def a_rulebook(
    causes: Iterable[Cause],
    signals: Iterable[Signal] = (),
    marks: Iterable[MarkForm] = (),
    harmless: Iterable[BenignForm] = (),
    domains: Mapping[str, DomainForm] | None = None,
) -> Rulebook:
    """Put a rulebook together without any file."""
    signals, marks, harmless = tuple(signals), tuple(marks), tuple(harmless)
    sources = [source for signal in signals for source in signal.patterns]
    for told in (*marks, *harmless):
        sources += [*told.match, *told.unless]
    return Rulebook(
        fingerprint="sha256:" + "0" * 64,
        domains=domains or {},
        causes={cause.name: cause for cause in causes},
        signals=signals,
        benign=harmless,
        filters=(),
        marks=marks,
        patterns={source: parse(source) for source in sources},
    )


# [12s] gpu-a: [rank3]: what is said
_PREFIX = re.compile(r"(?:\[(\d+)s\] )?(?:([a-z]+-[a-z0-9]+): )?(?:\[rank(\d+)\]: )?")


def some_lines(text: str, compiled: Compiled, file: int = 0) -> list[Line]:
    """Read lines as `[12s] gpu-a: [rank3]: text`, each prefix optional, met by what they hold."""
    lines = []
    for number, raw in enumerate(text.strip("\n").split("\n"), 1):
        prefix = _PREFIX.match(raw)
        assert prefix is not None
        time, host, rank = prefix.groups()
        said = raw[prefix.end() :]
        lines.append(
            Line(
                file=file,
                number=number,
                raw=raw,
                text=said,
                rank=int(rank) if rank else None,
                host=host,
                time=float(time) if time else None,
                stream=f"rank {rank}" if rank else "",
                met=tuple(
                    index
                    for index, probe in enumerate(compiled.probes)
                    if compiled.holds(probe.source, raw) or compiled.holds(probe.source, said)
                ),
            )
        )
    return lines


def a_line(
    number: int = 1,
    *,
    file: int = 0,
    text: str = "",
    rank: int | None = None,
    host: str | None = None,
    time: float | None = None,
) -> Line:
    stream = f"rank {rank}" if rank is not None else ""
    return Line(file, number, text, text, rank=rank, host=host, time=time, stream=stream)


def a_finding(
    cause: str,
    *lines: Line,
    signal: str | None = None,
    strength: Strength = "proof",
    facts: Mapping[str, str] | None = None,
    onset: float | None = None,
) -> Finding:
    """Make a finding; its signal is the cause in small letters unless it is named."""
    name = signal or cause.lower()
    sightings = tuple(Sighting(name, line, strength, facts or {}) for line in lines or (a_line(),))
    began = onset if onset is not None else sightings[0].line.time
    return Finding(cause, name, strength, sightings, len(sightings), began, f"saw {name}")
