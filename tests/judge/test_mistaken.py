"""Causes that are easily taken for each other, each told by the mechanism that keeps them apart."""

from pathlib import Path

from app.rulebook.compiled import Compiled
from tests.small_logs import SmallLog, each_of


@each_of(Path(__file__).with_name("mistaken.yaml"))
def test_the_cause_is_not_taken_for_what_came_with_it(log: SmallLog, compiled: Compiled) -> None:
    assert log.told(compiled).verdict.primary.cause == log.wanted["primary"]
