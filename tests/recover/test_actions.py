"""What to do about small logs of many kinds; what a restart, a wait or an edit can mend."""

from pathlib import Path

from app.rulebook.compiled import Compiled
from tests.small_logs import SmallLog, each_of


@each_of(Path(__file__).parent / "actions.yaml")
def test_the_action_is_right(log: SmallLog, compiled: Compiled) -> None:
    told = log.told(compiled)
    assert told.plan.action == log.wanted["action"], told.verdict.primary
