"""Loading the rule folder: every fault at once, where it stands, and a cache that never hurts."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.errors import RulebookError
from app.rulebook.load import content_hash, load, write_whole
from app.rulebook.rulebook import Rulebook
from tests.small_rules import FOLDER, write_rules

PUMP = FOLDER["signals/pump.yaml"]
FAULT = FOLDER["causes/plant/PumpFault.yaml"]


def faults(folder: Path) -> list[str]:
    with pytest.raises(RulebookError) as caught:
        load(folder)
    return [
        f"{fault.path.relative_to(folder)}:{fault.line}: {fault.fault}"
        for fault in caught.value.faults
    ]


def without_proof(book: Rulebook) -> object:
    proof = {"hits", "misses", "examples"}
    parts = ("causes", "signals", "benign", "filters", "marks")
    return book.model_dump(exclude={part: {"__all__": proof} for part in parts})


def test_a_folder_without_faults_becomes_a_rulebook(tmp_path: Path) -> None:
    book = load(write_rules(tmp_path))
    assert set(book.causes) == {"PumpFault", "Waiting"}
    assert book.causes["PumpFault"].domain == "plant"
    assert [signal.emitter for signal in book.signals] == ["pump", "pump"]
    assert [f.name for f in book.filters] == ["gauges"]
    assert {source for signal in book.signals for source in signal.match} <= set(book.patterns)


def test_every_fault_of_every_file_is_told_at_once_in_order(tmp_path: Path) -> None:
    folder = write_rules(
        tmp_path,
        {
            "causes/plant/Waiting.yaml": "title: [unclosed\n",
            "signals/pump.yaml": PUMP.replace("strength: clue", "strength: hunch").replace(
                "    says: pump {pump} leaks\n", "    colour: red\n"
            ),
            "filters/gauges.yaml": FOLDER["filters/gauges.yaml"] + "do: keep\n",
            "marks/hall.yaml": FOLDER["marks/hall.yaml"].replace("kind: start", "kind: begin"),
        },
    )
    found = faults(folder)
    assert [text.split(": ")[0] for text in found] == [
        "causes/plant/Waiting.yaml:2",
        "filters/gauges.yaml:7",
        "marks/hall.yaml:5",
        "signals/pump.yaml:4",
        "signals/pump.yaml:8",
        "signals/pump.yaml:13",
    ]
    assert "not YAML" in found[0]
    assert found[1].endswith("`do` is given twice")


def test_faults_of_form_do_not_hide_a_cause_that_nobody_defines(tmp_path: Path) -> None:
    text = PUMP.replace("cause: Waiting", "cause: Wating")
    broken = {
        "there": text.replace("    says: waited", "    colour: red\n    says: waited"),
        "elsewhere": text.replace("    says: pump", "    colour: red\n    says: pump"),
    }
    for place, signals in broken.items():
        found = faults(write_rules(tmp_path / place, {"signals/pump.yaml": signals}))
        assert len(found) == 2, found
        assert any("`colour` is no field here" in fault for fault in found)
        assert any("Wating is defined by no file; did you mean Waiting?" in f for f in found)


def test_a_field_that_belongs_elsewhere_is_not_what_was_meant(tmp_path: Path) -> None:
    changed = {"benign/drips.yaml": FOLDER["benign/drips.yaml"] + "strength: clue\n"}
    (fault,) = faults(write_rules(tmp_path, changed))
    assert fault.endswith("`strength` is no field here")


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        ("causes/plant/PumpFault.yaml", "summary:", "sumary:",
         "PumpFault.yaml:2: `sumary` is no field here; did you mean summary?"),
        ("causes/plant/PumpFault.yaml", "title: A pump failed\n", "",
         "PumpFault.yaml:1: `title` is missing"),
        ("causes/plant/PumpFault.yaml", "cordon_and_restart", "kick",
         "PumpFault.yaml:8: recovery.action: must be 'restart', "),
        ("causes/plant/PumpFault.yaml", "['Drain {host}.']", "\n    - note: drain it",
         "PumpFault.yaml:10: recovery.steps[0]: must be text; if it holds `: ` or ` #`, "),
        ("causes/plant/PumpFault.yaml", "scope: same_host", "scope: same_rack",
         "PumpFault.yaml:6: explains.always[0].scope: must be 'same_rank', "),
        ("causes/plant/PumpFault.yaml", "- of: Waiting\n      scope: same_host", "- 7",
         "PumpFault.yaml:5: explains.always[0].of: must be text"),
        ("causes/plant/PumpFault.yaml", "- of: Waiting\n      scope: same_host", "- two words",
         "PumpFault.yaml:5: explains.always[0].of: must be the name of a cause or of a signal"),
        ("causes/plant/PumpFault.yaml", "of: Waiting", "of: Wating",
         "PumpFault.yaml:5: Wating is defined by no file; did you mean Waiting?"),
        ("causes/plant/PumpFault.yaml", "primary: PumpFault", "primary: PumpFailed",
         "PumpFault.yaml:12: PumpFailed is defined by no file; did you mean PumpFault?"),
        ("causes/plant/_domain.yaml", "[Waiting]", "[Waiting, waited_log]",
         "_domain.yaml:4: waited_log is defined by no file; did you mean waited_long?"),
        ("signals/pump.yaml", "cause: Waiting", "cause: Pumpfault",
         "pump.yaml:12: Pumpfault is defined by no file; did you mean PumpFault?"),
        ("signals/pump.yaml", "cause: Waiting", "cause: waiting",
         "pump.yaml:12: signals[1].cause: must be a cause, in CamelCase"),
        ("signals/pump.yaml", "name: waited_long", "name: WaitedLong",
         "pump.yaml:11: signals[1].name: must be a name in snake_case"),
        ("signals/pump.yaml", "strength: clue", "strength: clue\n    refines: [Weighting]",
         "pump.yaml:14: Weighting is defined by no file; did you mean Waiting?"),
        ("signals/pump.yaml", "name: waited_long", "name: pump_leaks",
         "pump.yaml:11: the name pump_leaks is taken by "),
        ("signals/pump.yaml", "    misses: 'pump 3 runs'\n", "",
         "pump.yaml:4: pump_leaks: give at least one hit and one miss"),
        ("signals/pump.yaml", "says: pump {pump} leaks", "says: pump {pum} leaks",
         "pump.yaml:8: {pum} is a named group of no pattern here; did you mean pump?"),
        ("signals/pump.yaml", "says: pump {pump} leaks", "says: x",
         "pump.yaml:8: signals[0].says: says nothing"),
        ("signals/pump.yaml", "leaks'\n    says", "leaks'\n    exception: KeyError\n    says",
         "pump.yaml:4: signals[0]: give either `match` or `exception`"),
        ("signals/pump.yaml", "leaks'\n    says", "leaks'\n    after: pump\n    says",
         "pump.yaml:4: signals[0]: `after` and `within` go together"),
        ("signals/pump.yaml", "leaks'\n    says", "leaks'\n    within: soon\n    says",
         "pump.yaml:8: signals[0].within: must be a whole number"),
        ("signals/pump.yaml", "leaks'\n    says",
         "leaks'\n    after: pumps\n    within: -3\n    says",
         "pump.yaml:9: signals[0].within: must be at least 0"),
        ("signals/pump.yaml", "'pump (?P<pump>\\d+) leaks'", "'(?=pump) leaks'",
         "pump.yaml:7: signals[0].match[0]: "),
        ("filters/gauges.yaml", "match: '^gauge \\d+ reads'", "match: 7",
         "gauges.yaml:4: match: must be a list, or a single text"),
        ("filters/gauges.yaml", "hits: 'gauge 7 reads 12'\n", "",
         "gauges.yaml:1: give at least one hit and one miss"),
        ("marks/hall.yaml", "kind: start", "kind: start\n    grade: hint",
         "hall.yaml:4: marks[0]: `grade` belongs to kind `finished`, and only to it"),
        ("benign/drips.yaml", "name: one_drip", "name: hall_opens",
         "hall.yaml:4: the name hall_opens is taken by "),
    ],
)  # fmt: skip
def test_a_fault_is_told_once_in_plain_words_at_its_line(
    tmp_path: Path, name: str, old: str, new: str, fault: str
) -> None:
    assert old in FOLDER[name]
    (found,) = faults(write_rules(tmp_path, {name: FOLDER[name].replace(old, new, 1)}))
    assert fault in found


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("Stray.yaml", "a rule file belongs to"),
        ("causes/Stray.yaml", "a rule file belongs to"),
        ("causes/plant/deep/Stray.yaml", "a rule file belongs to"),
        ("causes/plant/Stray.yml", "a rule file belongs to"),
        ("rumours/stray.yaml", "a rule file belongs to"),
        ("signals/deep/stray.yaml", "a rule file belongs to"),
        ("causes/plant/stray.yaml", "a cause's file bears its name"),
        ("causes/plant/Completed.yaml", "Completed is what the judge says"),
        ("causes/mill/PumpFault.yaml", "the cause PumpFault is defined by"),
    ],
)
def test_a_file_that_stands_where_it_cannot_be_meant_is_a_fault(
    tmp_path: Path, name: str, fault: str
) -> None:
    (found,) = faults(write_rules(tmp_path, {name: FOLDER["causes/plant/Waiting.yaml"]}))
    assert fault in found


def test_a_file_that_cannot_be_read_does_not_make_those_who_speak_of_it_wrong(
    tmp_path: Path,
) -> None:
    folder = write_rules(
        tmp_path,
        {
            "causes/plant/PumpFault.yaml": FAULT.replace("of: Waiting", "of: waited_long"),
            "causes/plant/Waiting.yaml": "title: 7\n",
            "signals/pump.yaml": PUMP.replace("strength: proof", "strength: sure"),
        },
    )
    wrong = {"causes/plant/Waiting.yaml", "signals/pump.yaml"}
    assert {text.split(":")[0] for text in faults(folder)} == wrong
    (folder / "signals" / "pump.yaml").write_text(PUMP + "  - [")
    assert {text.split(":")[0] for text in faults(folder)} == wrong


def test_explanations_in_a_circle_are_refused_where_one_of_them_is_written(
    tmp_path: Path,
) -> None:
    waiting = FOLDER["causes/plant/Waiting.yaml"] + "explains:\n  always: [PumpFault]\n"
    (found,) = faults(write_rules(tmp_path, {"causes/plant/Waiting.yaml": waiting}))
    assert found == (
        "causes/plant/PumpFault.yaml:5: "
        "`always` edges form a circle: PumpFault → Waiting → PumpFault"
    )


def test_a_circle_that_goes_through_a_single_signal_is_refused(tmp_path: Path) -> None:
    waits = "    explains: {always: [PumpFault]}\n    hits: 'waited 30 s for the pump'\n"
    folder = write_rules(
        tmp_path,
        {"signals/pump.yaml": PUMP.replace("    hits: 'waited 30 s for the pump'\n", waits)},
    )
    (found,) = faults(folder)
    assert "`always` edges form a circle: PumpFault → waited_long → PumpFault" in found


def test_signals_that_refine_each_other_are_refused(tmp_path: Path) -> None:
    text = PUMP.replace("strength: proof", "strength: proof\n    refines: [waited_long]")
    text = text.replace("strength: clue", "strength: clue\n    refines: [PumpFault]")
    (found,) = faults(write_rules(tmp_path, {"signals/pump.yaml": text}))
    assert "`refines` forms a circle: pump_leaks → waited_long → pump_leaks" in found


def test_a_file_of_odd_bytes_or_deep_nesting_is_a_fault_and_no_crash(tmp_path: Path) -> None:
    folder = write_rules(tmp_path)
    (folder / "benign" / "latin.yaml").write_bytes(b"title: caf\xe9\n")
    (folder / "benign" / "deep.yaml").write_text("title: " + "[" * 3000)
    (folder / "benign" / "ring.yaml").write_text("title: &a [*a]\nsummary: none\nlines: []\n")
    (folder / "benign" / "dated.yaml").write_text("title: 2026-02-31\n")
    (folder / "benign" / "folder.yaml").mkdir()
    with pytest.raises(RulebookError, match="folder.yaml:1: cannot be read"):
        load(folder)
    (folder / "benign" / "folder.yaml").rmdir()
    assert {text.split(":")[0] for text in faults(folder)} == {
        f"benign/{name}.yaml" for name in ("latin", "deep", "ring", "dated")
    }


def test_a_folder_that_is_missing_or_holds_no_cause_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(RulebookError, match="no such folder of rules"):
        load(tmp_path / "nowhere")
    assert faults(tmp_path) == [".:1: no file under causes/"]


def test_what_editors_leave_behind_is_no_rule(tmp_path: Path) -> None:
    write_rules(tmp_path, {"signals/.#pump.yaml": "???: ["})
    assert len(load(tmp_path).signals) == 2


def test_the_same_content_gives_the_same_rulebook_from_the_cache(tmp_path: Path) -> None:
    rules, cache = write_rules(tmp_path / "rules"), tmp_path / "cache"
    fresh, kept = load(rules, cache), load(rules, cache)
    assert without_proof(kept) == without_proof(fresh)
    assert fresh.signals[0].hits
    assert not kept.signals[0].hits  # proof that it came from the cache
    assert kept.relation == fresh.relation


def test_other_content_is_another_rulebook_whatever_the_cache_holds(tmp_path: Path) -> None:
    rules, cache = write_rules(tmp_path / "rules"), tmp_path / "cache"
    before = load(rules, cache)
    write_rules(rules, {"signals/pump.yaml": PUMP.replace("leaks'", "bursts'", 1)})
    after = load(rules, cache)
    assert after.fingerprint != before.fingerprint
    assert after.signals[0].match != before.signals[0].match


def test_the_hash_sees_names_and_borders_of_files(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("xy")
    first = content_hash(tmp_path)
    (tmp_path / "a.yaml").rename(tmp_path / "b.yaml")
    second = content_hash(tmp_path)
    (tmp_path / "b.yaml").write_text("x")
    (tmp_path / "c.yaml").write_text("y")
    assert len({first, second, content_hash(tmp_path)}) == 3


@pytest.mark.parametrize("garbage", [b"", b"{", b'{"fingerprint": 3}', b"\xff\x00" * 99])
def test_a_broken_cache_is_replaced(tmp_path: Path, garbage: bytes) -> None:
    rules, cache = write_rules(tmp_path / "rules"), tmp_path / "cache"
    fresh = load(rules, cache)
    (file,) = cache.iterdir()
    file.write_bytes(garbage)
    assert without_proof(load(rules, cache)) == without_proof(fresh)
    assert len(file.read_bytes()) > 1000


def test_a_cache_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    rules = write_rules(tmp_path / "rules")
    (tmp_path / "file").write_text("in the way")
    book = load(rules, tmp_path / "file" / "cache")
    assert set(book.causes) == {"PumpFault", "Waiting"}
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_write_that_fails_leaves_no_part_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    write_whole(tmp_path / "cache" / "kept", b"data")
    assert list((tmp_path / "cache").iterdir()) == []


def test_several_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    rules, cache = write_rules(tmp_path / "rules"), tmp_path / "cache"
    with ThreadPoolExecutor(4) as pool:
        books = list(pool.map(lambda _: load(rules, cache), range(8)))
    assert len(list(cache.iterdir())) == 1
    assert all(without_proof(book) == without_proof(books[0]) for book in books)
    assert not load(rules, cache).signals[0].hits


def test_the_cache_keeps_only_the_last_files_of_each_kind(tmp_path: Path) -> None:
    for number in range(12):
        write_whole(tmp_path / f"rulebook-{number}.json", b"{}")
        os.utime(tmp_path / f"rulebook-{number}.json", (number, number))
    write_whole(tmp_path / "hyperscan-1.db", b"")
    write_whole(tmp_path / "rulebook-12.json", b"{}")
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"hyperscan-1.db", *(f"rulebook-{number}.json" for number in range(5, 13))}


LEARNED = """\
title: A signal that was learned
summary: A person confirmed what it finds.
signals:
  - name: pump_groans
    cause: PumpFault
    strength: proof
    match: 'pump \\d+ groans'
    says: the pump groans
    hits: 'pump 3 groans'
    misses: 'pump 3 hums'
"""


def test_a_second_folder_of_learned_rules_is_read_beside_the_first(tmp_path: Path) -> None:
    folder, learned = write_rules(tmp_path / "rules"), tmp_path / "learned"
    without = load(folder)
    assert load(folder, learned=learned) == without  # it may be missing
    (learned / "signals").mkdir(parents=True)
    (learned / "signals" / "pump_groans.yaml").write_text(LEARNED)
    book = load(folder, tmp_path / "cache", learned)
    assert [signal.name for signal in book.signals][-1] == "pump_groans"
    assert book.fingerprint != without.fingerprint
    again = load(folder, tmp_path / "cache", learned)
    assert without_proof(again) == without_proof(book)


def test_a_learned_rule_may_not_take_the_name_of_another(tmp_path: Path) -> None:
    folder, learned = write_rules(tmp_path / "rules"), tmp_path / "learned"
    (learned / "signals").mkdir(parents=True)
    (learned / "signals" / "mine.yaml").write_text(LEARNED.replace("pump_groans", "pump_leaks"))
    with pytest.raises(RulebookError, match="mine.yaml:4: the name pump_leaks is taken"):
        load(folder, learned=learned)
