"""Where a fault sits, in the words of many launchers: rank, host and GPU from what each prints."""

from pathlib import Path

from app.rulebook.compiled import Compiled
from tests.small_logs import SmallLog, each_of

HERE = Path(__file__).parent


@each_of(HERE / "places.yaml")
def test_the_place_is_named(log: SmallLog, compiled: Compiled) -> None:
    found = log.places(compiled)
    assert any(log.wanted.items() <= place.items() for place in found[:3]), found


@each_of(HERE / "blame.yaml")
def test_the_one_to_blame_is_named_where_many_complain(log: SmallLog, compiled: Compiled) -> None:
    found = log.places(compiled)
    assert any(log.wanted.items() <= place.items() for place in found[:3]), found
