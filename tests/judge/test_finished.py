"""Jobs whose trainer or wrapper says that all is done: does the word stand?"""

from pathlib import Path

import pytest

from app.rulebook.compiled import Compiled
from tests.small_logs import SmallLog, each_of


@each_of(Path(__file__).with_name("finished.yaml"))
def test_the_word_stands_unless_what_was_still_to_do_failed(
    log: SmallLog, compiled: Compiled
) -> None:
    primary = log.told(compiled).verdict.primary
    assert primary.cause == log.wanted["primary"]
    assert primary.confidence == log.wanted.get("confidence", primary.confidence)


@pytest.mark.parametrize(("steps", "cause"), [(40, "Completed"), (4, "StorageError")])
def test_what_many_steps_followed_does_not_belie_a_wrapper(
    steps: int, cause: str, compiled: Compiled
) -> None:
    told = [f"step {n}/{steps} | loss {3.2 - n / 900:.4f} | lr 3e-4" for n in range(1, steps + 1)]
    full = "cp: error writing '/tmp/profile': No space left on device"
    log = SmallLog(
        {"job.log": "\n".join([full, *told, "saved the final model to out/final.pt"])}, {}
    )
    assert log.told(compiled).verdict.primary.cause == cause
