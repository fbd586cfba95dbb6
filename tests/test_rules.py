"""Each hit, miss and example of the rules is a test, run by the product's own code.

The texts of one rule file are read in one go, each as a file of its own; that costs a tenth of a
run for each of them and changes nothing, since exceptions are joined within files.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from app.compress.scan import Scanner
from app.detect.detect import Sighted, look
from app.detect.signals import is_benign
from app.model import Line
from app.pipeline import Limits, compressed, diagnose
from app.rulebook.cause import CauseForm, Example
from app.rulebook.compiled import Compiled
from app.rulebook.form import Form
from app.rulebook.lines import BenignFile, FilterForm, MarkFile
from app.rulebook.places import read
from app.rulebook.signal import SignalFile
from tests.own_rules import COMPILED
from tests.places import ROOT, RULES

COMPLETED = sorted((ROOT / "fixtures" / "Completed").glob("*.log"))
ROUTINE = 45, 205  # lines before and after, so that neither end of the log is kept for itself


@dataclass(frozen=True, slots=True)
class Said:
    """A text that a rule must meet (`hit`) or leave alone (`miss`)."""

    file: str
    rule: str
    kind: str
    text: str
    place: int


def _files(folder: str) -> list[Path]:
    return sorted((RULES / folder).rglob("*.yaml"))


def _rules(path: Path) -> Iterator[tuple[str, Form]]:
    value = read(path).value
    match path.relative_to(RULES).parts[0]:
        case "signals":
            yield from ((s.name, s) for s in SignalFile.model_validate(value).signals)
        case "benign":
            yield from ((b.name, b) for b in BenignFile.model_validate(value).lines)
        case "marks":
            yield from ((m.name, m) for m in MarkFile.model_validate(value).marks)
        case "filters":
            yield path.stem, FilterForm.model_validate(value)


@cache
def _said(path: Path) -> tuple[Said, ...]:
    texts = [
        (name, kind, index, text)
        for name, rule in _rules(path)
        for kind, told in (("hit", rule.hits), ("miss", rule.misses))
        for index, text in enumerate(told)
    ]
    return tuple(
        Said(str(path.relative_to(RULES)), name, f"{kind}{index}", text, place)
        for place, (name, kind, index, text) in enumerate(texts)
    )


@cache
def _looked(file: str) -> Sighted:
    texts = [BytesIO(said.text.encode()) for said in _said(RULES / file)]
    return look(compressed(texts, COMPILED, Limits()), COMPILED)


def _signals_at(said: Said) -> set[str]:
    return {s.signal for s in _looked(said.file).sightings if s.line.file == said.place}


def _marks_at(said: Said) -> set[str]:
    return {m.mark for m in _looked(said.file).marks if m.line.file == said.place}


def _lines_of(said: Said) -> list[Line]:
    return [line for line in _looked(said.file).log.lines if line.file == said.place]


def _each(folder: str, kind: str) -> pytest.MarkDecorator:
    found = [said for path in _files(folder) for said in _said(path) if said.kind.startswith(kind)]
    names = [f"{Path(said.file).name}:{said.rule}:{said.kind}" for said in found]
    return pytest.mark.parametrize("said", found, ids=names)


def _examples() -> pytest.MarkDecorator:
    found = [
        (path, number, example)
        for path in _files("causes")
        if not path.stem.startswith("_")
        for number, example in enumerate(CauseForm.model_validate(read(path).value).examples)
    ]
    names = [f"{path.name}:example{number}" for path, number, _ in found]
    return pytest.mark.parametrize("example", [example for _, _, example in found], ids=names)


@_each("signals", "hit")
def test_a_signal_is_found_on_each_of_its_hits(said: Said) -> None:
    assert said.rule in _signals_at(said)


@_each("signals", "miss")
def test_a_signal_is_not_found_on_a_miss(said: Said) -> None:
    assert said.rule not in _signals_at(said)


@_each("marks", "hit")
def test_a_mark_is_found_on_each_of_its_hits(said: Said) -> None:
    assert said.rule in _marks_at(said)


@_each("marks", "miss")
def test_a_mark_is_not_found_on_a_miss(said: Said) -> None:
    assert said.rule not in _marks_at(said)


@_each("benign", "hit")
def test_a_harmless_line_is_known_as_such(said: Said) -> None:
    assert any(_holds(said.rule, line) for line in _lines_of(said))
    assert any(is_benign(line, COMPILED) for line in _lines_of(said))


@_each("benign", "miss")
def test_a_line_that_looks_like_a_harmless_one_may_be_evidence(said: Said) -> None:
    assert not any(_holds(said.rule, line) for line in _lines_of(said))


@_each("benign", "hit")
def test_no_signal_is_found_on_a_harmless_line(said: Said) -> None:
    assert not _signals_at(said)


def _holds(benign: str, line: Line) -> bool:
    rule = next(rule for rule in COMPILED.rulebook.benign if rule.name == benign)
    vetoed = any(COMPILED.holds(veto, line.raw) for veto in rule.unless)
    return not vetoed and any(COMPILED.holds(source, line.raw) for source in rule.match)


@_each("filters", "hit")
@pytest.mark.parametrize("end", ["", "\n", "\r\n"], ids=["cut", "lf", "crlf"])
def test_a_filter_meets_each_of_its_hits(said: Said, end: str) -> None:
    assert _filtered(said.rule, said.text + end)


@_each("filters", "miss")
@pytest.mark.parametrize("end", ["", "\n", "\r\n"], ids=["cut", "lf", "crlf"])
def test_a_filter_leaves_a_miss_alone(said: Said, end: str) -> None:
    assert not _filtered(said.rule, said.text + end)


def _filtered(name: str, line: str) -> bool:
    met = pc.match_substring_regex(pa.array([line.encode()], pa.binary()), _only(name))
    return bool(met[0].as_py())


@cache
def _only(name: str) -> str:
    rule = next(rule for rule in COMPILED.rulebook.filters if rule.name == name)
    alone = rule.model_copy(update={"do": "drop", "status": "stable"})
    pattern = Compiled(COMPILED.rulebook.model_copy(update={"filters": (alone,)})).dropped
    assert pattern
    return pattern


@_each("filters", "hit")
def test_no_signal_is_found_on_a_routine_line(said: Said) -> None:
    assert not _signals_at(said)


@_examples()
def test_an_example_is_given_its_verdict(example: Example) -> None:
    told = diagnose([BytesIO(example.log.encode())], COMPILED).verdict
    assert told.primary.cause == example.primary, [root.signal for root in told.other_roots]


@pytest.mark.parametrize("path", _files("signals") + _files("marks"), ids=lambda path: path.name)
def test_filters_leave_every_line_of_every_hit(path: Path) -> None:
    routine = _a_dropped_line()
    before, after = ((routine + "\n") * count for count in ROUTINE)
    told = [said.text.rstrip("\n") for said in _said(path) if said.kind.startswith("hit")]
    log = compressed(
        [BytesIO((before + "\n".join(told) + "\n" + after).encode())], COMPILED, Limits()
    )
    kept = {line.number for line in log.lines}
    wanted = {
        number: line
        for number, line in enumerate("\n".join(told).split("\n"), ROUTINE[0] + 1)
        if line.strip()
    }
    assert log.total_lines > len(kept), (
        "the routine lines must be taken away for this to prove much"
    )
    assert not {number: line for number, line in wanted.items() if number not in kept}


@cache
def _a_dropped_line() -> str:
    scanner = Scanner(COMPILED)
    for path in _files("filters"):
        for said in _said(path):
            line = said.text + "\n"
            if not len(scanner.scan(memoryview(bytearray(line.encode()))).kept):
                return said.text
    raise AssertionError("no filter drops any line")


@pytest.mark.parametrize("log", COMPLETED, ids=lambda log: log.stem)
def test_no_proof_is_found_in_a_run_that_ended_well(log: Path) -> None:
    sighted = look(compressed([log], COMPILED, Limits()), COMPILED)
    last = sighted.attempts[-1]
    proofs = [
        (s.signal, s.line.number, s.line.raw)
        for s in sighted.sightings
        if s.strength == "proof" and last.holds(s.line.file, s.line.number)
    ]
    assert not proofs
