"""Jobs whose trainer or wrapper says that all is done: does the word stand?"""

from pathlib import Path

from app.rulebook.compiled import Compiled
from tests.small_logs import SmallLog, each_of


@each_of(Path(__file__).with_name("finished.yaml"))
def test_the_word_stands_unless_what_was_still_to_do_failed(
    log: SmallLog, compiled: Compiled
) -> None:
    primary = log.told(compiled).verdict.primary
    assert primary.cause == log.wanted["primary"]
    assert primary.confidence == log.wanted.get("confidence", primary.confidence)
