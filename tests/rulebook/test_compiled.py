"""The rulebook in its engines: probes, proofs with facts, and a database that is kept."""

from pathlib import Path

import hyperscan
import pytest

from app.rulebook.compiled import TRACE, Compiled
from app.rulebook.load import load
from tests.small_rules import FOLDER, a_cause, a_mark, a_rulebook, a_signal, benign, write_rules

GAUGES = FOLDER["filters/gauges.yaml"]


def met(compiled: Compiled, text: str) -> set[int]:
    found: set[int] = set()

    def on_match(probe: int, start: int, end: int, flags: int, context: object) -> None:
        found.add(probe)

    database = compiled.database
    database.scan(text.encode(), match_event_handler=on_match, scratch=hyperscan.Scratch(database))
    return found


def kinds(compiled: Compiled, text: str) -> list[tuple[str, str]]:
    return [
        (compiled.probes[i].kind, compiled.probes[i].source) for i in sorted(met(compiled, text))
    ]


def test_probes_are_what_is_looked_for_everywhere_traces_first() -> None:
    book = a_rulebook(
        [a_cause("Pump")],
        [
            a_signal("leak", "Pump", "it leaks", after="valve opened", within=9),
            a_signal("gone", "Pump", exception=["PumpError"], message="gone"),
        ],
        [a_mark("opens", "start", "hall opens", unless="again")],
        [benign("one drip")],
    )
    probes = Compiled(book).probes
    assert [probe.kind for probe in probes[: len(TRACE)]] == ["trace"] * len(TRACE)
    assert [(p.kind, p.owner, p.source) for p in probes[len(TRACE) :]] == [
        ("signal", 0, "it leaks"),
        ("keep", 0, "valve opened"),
        ("mark", 0, "hall opens"),
    ]


def test_the_scan_meets_lines_and_each_hit_names_its_rule() -> None:
    book = a_rulebook(
        [a_cause("Pump")],
        [a_signal("leak", "Pump", "^pump leaks$")],
        [a_mark("opens", "start", "the hall opens")],
    )
    compiled = Compiled(book)
    assert kinds(compiled, "12:00 the hall opens\nall is well\n") == [("mark", "the hall opens")]
    assert ("signal", "^pump leaks$") in kinds(compiled, "x\n[rank3]: pump leaks\n")
    assert kinds(compiled, "Traceback (most recent call last):\n")[0][0] == "trace"


def test_a_proof_gives_the_facts_that_were_captured() -> None:
    source = r"pump (?P<pump>\d+)(?: of (?P<hall>\w+))? leaks"
    compiled = Compiled(a_rulebook([a_cause("Pump")], [a_signal("leak", "Pump", source)]))
    assert compiled.match(source, "pump 3 leaks") == {"pump": "3"}
    assert compiled.match(source, "pump 3 of näss leaks") is None
    assert compiled.match(source, "pump runs") is None
    assert compiled.holds(source, "the pump 3 of B leaks")


def test_text_beyond_ascii_keeps_its_letters() -> None:
    source = "leaks at (?P<place>.+) now"
    compiled = Compiled(a_rulebook([a_cause("Pump")], [a_signal("leak", "Pump", source)]))
    assert compiled.match(source, "leaks at Straße 3 now") == {"place": "Straße 3"}
    assert compiled.match(source, "leaks at \udcff now") == {"place": "?"}


def test_a_pattern_that_no_rule_holds_can_be_tried_all_the_same() -> None:
    compiled = Compiled(a_rulebook([a_cause("Pump")]))
    assert compiled.match("valve (?P<valve>[a-z])", "valve b") == {"valve": "b"}


def test_benign_lines_are_found_by_any_of_their_patterns() -> None:
    compiled = Compiled(a_rulebook([a_cause("Pump")], harmless=[benign("one drip")]))
    assert compiled.may_be_benign("pump 3: one drip")
    assert not compiled.may_be_benign("pump 3: two drips")
    assert not Compiled(a_rulebook([a_cause("Pump")])).may_be_benign("one drip")


def test_only_stable_filters_drop_and_keep(tmp_path: Path) -> None:
    folder = write_rules(
        tmp_path,
        {
            "filters/old.yaml": GAUGES.replace("do: drop", "do: drop\nstatus: retired")
            .replace("gauge", "clock"),
            "filters/vow.yaml": GAUGES.replace("do: drop", "do: keep").replace("gauge", "oath"),
            "filters/idea.yaml": GAUGES.replace("do: drop", "do: keep\nstatus: draft")
            .replace("gauge", "idea"),
        },
    )  # fmt: skip
    compiled = Compiled(load(folder))
    assert compiled.dropped is not None
    assert "gauge" in compiled.dropped
    assert "clock" not in compiled.dropped
    kept = [probe.source for probe in compiled.probes if probe.kind == "keep"]
    assert kept == [r"^oath \d+ reads"]


def test_a_rulebook_without_filters_drops_nothing() -> None:
    assert Compiled(a_rulebook([a_cause("Pump")])).dropped is None


def test_the_database_is_kept_and_read_again(tmp_path: Path) -> None:
    book = load(write_rules(tmp_path / "rules"))
    text = "pump 3 leaks\n"
    fresh = met(Compiled(book, tmp_path / "cache"), text)
    (kept,) = (tmp_path / "cache").iterdir()
    written = kept.stat().st_mtime_ns
    assert fresh
    assert met(Compiled(book, tmp_path / "cache"), text) == fresh
    assert kept.stat().st_mtime_ns == written


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_database_that_was_cut_is_made_anew(tmp_path: Path, share: float) -> None:
    book = load(write_rules(tmp_path / "rules"))
    fresh = met(Compiled(book, tmp_path / "cache"), "pump 3 leaks\n")
    (kept,) = (tmp_path / "cache").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[: int(len(whole) * share)])
    assert met(Compiled(book, tmp_path / "cache"), "pump 3 leaks\n") == fresh
    assert len(kept.read_bytes()) == len(whole)


def test_other_rules_have_a_database_of_their_own(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for word in ("leaks", "bursts"):
        pump = FOLDER["signals/pump.yaml"].replace("leaks", word)
        book = load(write_rules(tmp_path / "rules", {"signals/pump.yaml": pump}))
        assert met(Compiled(book, cache), f"pump 3 {word}\n")
    assert len(list(cache.iterdir())) == 2


def test_a_cache_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    book = load(write_rules(tmp_path / "rules"))
    assert met(Compiled(book, tmp_path / "file" / "cache"), "pump 3 leaks\n")
