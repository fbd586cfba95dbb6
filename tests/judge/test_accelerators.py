"""What accelerators other than CUDA's, compilers and other languages say, and what follows it."""

from pathlib import Path

from app.judge.carried import CANNOT_USE
from app.rulebook.compiled import Compiled
from tests.small_logs import SmallLog, each_of


@each_of(Path(__file__).with_name("accelerators.yaml"))
def test_the_fault_goes_before_what_came_with_it(log: SmallLog, compiled: Compiled) -> None:
    assert log.told(compiled).verdict.primary.cause == log.wanted["primary"]


def test_the_signals_of_a_device_that_cannot_be_used_exist(compiled: Compiled) -> None:
    causes = {signal.name: signal.cause for signal in compiled.rulebook.signals}
    assert {causes.get(name) for name in CANNOT_USE} == {"CUDAError"}
