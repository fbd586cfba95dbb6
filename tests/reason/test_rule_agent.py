"""What the rule writer is asked fits the window of its model."""

import pytest

from app.reason.rule_agent import Missed, write_signals
from tests.learn.conftest import GOOD
from tests.reason.conftest import Stage, purse
from tests.reason.test_prompt import SHIPPED


@pytest.mark.parametrize(("window", "shown"), [(8_000, 10), (32_768, 60)])
def test_the_lines_that_tell_most_have_room_in_every_window(
    stage: Stage, window: int, shown: int
) -> None:
    setting = stage({"answers": [{"replies": [GOOD]}]}, context_tokens=window)
    evidence = [f"valve {n} of hall-a jammed shut {'and stood ' * 20}" for n in range(60)]
    told = Missed("PumpFault", "The pump stood still.", evidence, [])
    (signal,) = write_signals(told, setting.client, SHIPPED["rule_writer"], purse())
    assert signal.name == "valve_jammed"
    text = setting.fake.asked[0].text
    assert f"valve {shown - 1} of hall-a" in text
    assert len(text) < 3 * window
