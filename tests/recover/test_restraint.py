"""Small logs in which a node is easily drained, or a job started again, that should be left."""

from pathlib import Path

from app.rulebook.compiled import Compiled
from tests.small_logs import SmallLog, each_of


@each_of(Path(__file__).with_name("restraint.yaml"))
def test_nothing_is_done_that_the_log_does_not_bear(log: SmallLog, compiled: Compiled) -> None:
    told = log.told(compiled)
    primary, plan = told.verdict.primary, told.plan
    given: dict[str, object] = {
        "primary": primary.cause,
        "action": plan.action,
        "restart": plan.restart,
        "targets": list(plan.targets),
    }
    assert {name: given[name] for name in log.wanted} == log.wanted
