"""What writes filters holds them against every line that a rule looks for, learned ones too."""

from pathlib import Path

import pytest

from app.learn.draft import draft
from app.reason.budget import Limits
from app.reason.desk import Endpoint
from app.reason.fake import FakeModel
from app.reason.forms import SignalReply
from app.reason.script import Script
from app.store.database import connect
from app.store.job_types import JobTypes
from app.store.migrate import migrate
from app.work.asking import Asking
from app.work.filter_task import Task
from app.work.filter_writer import write
from app.written import Kind, Seen, Volume
from tests.learn.conftest import GOOD
from tests.reason.test_prompt import FOLDER
from tests.small_rules import write_rules

_MOVED = "valve 7 of hall-a moved by 3 steps"
_FILTER = {
    "name": "valves",
    "title": "Valves",
    "why": "They move all day.",
    "match": r"valve \d+ of [\w-]+ (?:moved|jammed)",
    "hits": [_MOVED],
    "misses": ["the valve is gone"],
    "claimed_share": 1,
}
_KINDS = (
    Kind("valve # of hall-a moved by # steps", 900, (_MOVED,)),
    *(Kind(name, 20, (name,)) for name in ("a tank fills", "the hall is warm", "a bell rings")),
)


@pytest.fixture
def noted(tmp_path: Path) -> str:
    """A database in which a type of jobs waits for its filters."""
    database = f"sqlite:///{tmp_path / 'firstfault.db'}"
    engine = connect(database)
    migrate(engine)
    volume = Volume(tokens=50_000, lines=960, kept=960, kinds=_KINDS)
    noted = JobTypes(engine).note(Seen("hall", frozenset({1, 2}), volume), 6_000)
    assert noted is not None
    assert noted.wants_filters
    return database


def task(folder: Path, database: str, model: str) -> Task:
    return Task(
        job_type="hall",
        writing=0,
        database=database,
        rules=write_rules(folder / "rules"),
        learned=folder / "learned",
        fixtures=folder / "fixtures",
        asking=Asking(
            Endpoint(model="fake", base_url=model, seconds=60),
            Limits(tokens=100_000),
            FOLDER,
            database,
        ),
        answers=3,
    )


@pytest.mark.parametrize("learned", [False, True])
def test_a_filter_that_hides_what_a_learned_rule_looks_for_is_refused(tmp_path, noted, learned):
    if learned:
        rule = draft("PumpFault", SignalReply.model_validate(GOOD), ())
        signals = tmp_path / "learned" / "signals"
        signals.mkdir(parents=True)
        (signals / f"{rule.name}.yaml").write_text(rule.text)
    with FakeModel(
        Script.model_validate({"answers": [{"replies": [{"filters": [_FILTER]}]}]})
    ) as m:
        told = write(task(tmp_path, noted, m.url))
    assert told.fault is None
    assert told.kept == (() if learned else ("valves",))
    assert any("hides evidence (valve_jammed)" in why for why in told.reasons) == learned
