"""The folder of learned rules: what is approved, and never in the way of the other rules."""

import asyncio

import pytest

from app.errors import RulebookError, UsageError
from app.learn.shelf import fill, unfitness
from app.rulebook.load import load
from app.service.rules import LearnedRules
from app.settings import Settings
from app.store.database import connect
from app.store.migrate import migrate
from app.store.proposals import Passed, Proposals, Written
from app.store.threads import StoreThreads
from tests.small_rules import write_rules

TEXT = """\
title: Learned
summary: A person confirmed what it finds.
signals:
  - name: pump_groans
    cause: PumpFault
    strength: proof
    match: ['pump \\d+ groans']
    says: the pump groans
    hits: 'pump 3 groans'
    misses: 'pump 3 hums'
"""


def written(text=TEXT, name="pump_groans"):
    return Written(name, "PumpFault", text, "fake", 2, (), (Passed("is_specific", None),), "")


def test_the_folder_holds_what_is_approved_and_nothing_else(tmp_path):
    rules, learned, cache = write_rules(tmp_path / "r"), tmp_path / "l", tmp_path / "c"
    shelf = fill(rules, learned, {"pump_groans": TEXT}, cache)
    assert (learned / "signals" / "pump_groans.yaml").read_text() == TEXT
    assert shelf.rules == load(rules, learned=learned).fingerprint
    assert r"pump \d+ groans" in shelf.patterns
    empty = fill(rules, learned, {}, cache)
    assert list(learned.rglob("*.yaml")) == []
    assert empty.rules == load(rules).fingerprint


def test_a_rule_that_fits_no_longer_is_left_out_and_told_of(tmp_path):
    rules, learned, cache = write_rules(tmp_path / "r"), tmp_path / "l", tmp_path / "c"
    clash = TEXT.replace("pump_groans", "pump_leaks")
    shelf = fill(rules, learned, {"pump_groans": TEXT, "clash": clash}, cache)
    assert list(shelf.unfit) == ["clash"]
    assert [path.stem for path in learned.rglob("*.yaml")] == ["pump_groans"]
    assert "the name pump_leaks is taken" in unfitness(rules, {"clash": clash}, cache)["clash"]


def test_a_fault_of_the_shipped_rules_is_told_as_ever(tmp_path):
    rules = write_rules(tmp_path / "r", {"marks/hall.yaml": "title: [\n"})
    with pytest.raises(RulebookError, match=r"hall\.yaml"):
        fill(rules, tmp_path / "l", {"pump_groans": TEXT}, tmp_path / "c")


@pytest.fixture
def replicas(tmp_path):
    """Two processes that share a database and nothing else."""
    engine = connect(f"sqlite:///{tmp_path / 'f.db'}")
    migrate(engine)
    rules, threads = write_rules(tmp_path / "rules"), StoreThreads()
    settings = [
        Settings(data_dir=tmp_path / name, rules_dir=rules, cache_dir=tmp_path / "cache")
        for name in ("one", "other")
    ]
    yield [LearnedRules(each, engine, threads) for each in settings], settings, Proposals(engine)
    threads.close()
    engine.dispose()


def test_what_one_process_decides_the_other_takes_up(replicas):
    (one, other), (mine, others), proposals = replicas
    id = proposals.add(1, "dg_1", written())
    versions = []

    async def run():
        one.open()
        other.open()
        other.on_change(versions.append)
        await one.decide(id, "approved", "ana", "")
        assert (mine.learned_dir / "signals" / "pump_groans.yaml").is_file()
        assert not others.learned_dir.exists()
        await other.tend()
        assert (others.learned_dir / "signals" / "pump_groans.yaml").is_file()
        assert (await other.counting()).learned == {"pump_groans"}
        await one.decide(id, "withdrawn", "ana", "")
        await other.tend()
        await other.tend()  # nothing is done twice

    asyncio.run(run())
    assert list(others.learned_dir.rglob("*.yaml")) == []
    assert versions == [versions[0], load(others.rules_dir).fingerprint]


def test_a_rule_that_does_not_fit_cannot_be_approved(replicas):
    (one, _), _, proposals = replicas
    id = proposals.add(1, "dg_1", written(TEXT.replace("PumpFault", "NoCause")))

    async def run():
        one.open()
        with pytest.raises(UsageError, match="NoCause is defined by no file"):
            await one.decide(id, "approved", "ana", "")

    asyncio.run(run())
    assert proposals.find(id).state == "proposed"


def test_a_rule_that_passed_its_gates_is_approved_where_the_settings_say_so(replicas):
    (one, _), _, proposals = replicas
    one._settings = one._settings.model_copy(update={"rule_approval": "automatic"})

    async def run():
        one.open()
        id = await one.keep(1, "dg_1", written())
        return proposals.find(id)

    found = asyncio.run(run())
    assert (found.state, found.decided_by) == ("approved", "automatic")


def test_what_a_person_took_back_is_not_approved_by_itself_again(replicas):
    (one, _), _, proposals = replicas
    one._settings = one._settings.model_copy(update={"rule_approval": "automatic"})

    async def run():
        one.open()
        await one.decide(await one.keep(1, "dg_1", written()), "withdrawn", "ana", "it was wrong")
        renamed = written(TEXT.replace("pump_groans", "pump_sighs"), "pump_sighs")
        other = written(TEXT.replace("groans", "wails"), "pump_wails")
        ids = [await one.keep(2, "dg_1", renamed), await one.keep(3, "dg_1", other)]
        return [proposals.find(id).state for id in ids]

    assert asyncio.run(run()) == ["proposed", "approved"]
