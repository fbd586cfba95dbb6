"""How much a client asks for, how often, and what it keeps to itself."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from app.errors import ModelError
from app.reason.budget import Budget, Limits, Prices
from app.reason.call import Spending
from app.reason.client import Client
from app.reason.question import Fit
from app.store.calls import Calls
from app.store.database import connect
from app.store.migrate import migrate
from tests.reason.conftest import GOOD, Stage, purse, question

_OK = {"replies": [GOOD]}


def test_no_more_calls_run_at_once_than_may(stage: Stage) -> None:
    setting = stage({"answers": [{"replies": [GOOD], "hang": 0.3}]}, parallel=2)
    setting.client._desk.ladder.ignores_many()
    began = time.monotonic()
    setting.client.ask_several(question(), purse(), 4)
    assert time.monotonic() - began > 0.55
    assert len(setting.calls) == 4


def test_several_answers_come_from_one_request_where_that_is_possible(stage: Stage) -> None:
    votes = [GOOD, {**GOOD, "cause": "Unknown"}, GOOD]
    setting = stage({"answers": [{"replies": votes}]})
    answers = setting.client.ask_several(question(), purse(), 3, temperature=0.7)
    assert [answer.reply.cause for answer in answers] == ["ECCError", "Unknown", "ECCError"]
    (asked,) = setting.fake.asked
    assert (asked.body["n"], asked.body["temperature"]) == (3, 0.7)


def test_an_endpoint_that_answers_once_is_asked_singly(stage: Stage) -> None:
    setting = stage({"ignores_n": True, "answers": [_OK]})
    assert len(setting.client.ask_several(question(), purse(), 3)) == 3
    assert len(setting.client.ask_several(question(), purse(), 2)) == 2
    assert [asked.body.get("n") for asked in setting.fake.asked] == [3, None, None, None, None]


def test_an_endpoint_that_refuses_several_answers_is_asked_singly(stage: Stage) -> None:
    refusal = {"status": 400, "param": "n", "message": "n must be 1", "times": 1}
    setting = stage({"answers": [refusal, _OK]})
    assert len(setting.client.ask_several(question(), purse(), 3)) == 3
    assert setting.outcomes[1:] == [("json_schema", "answered")] * 3


def test_votes_that_do_not_fit_are_left_out(stage: Stage) -> None:
    setting = stage({"answers": [{"replies": [GOOD, "?", "?"], "times": 1}, {"replies": ["no"]}]})
    assert len(setting.client.ask_several(question(), purse(), 3)) == 1


@pytest.mark.parametrize(
    ("param", "told", "dropped", "added"),
    [
        ("max_tokens", "use 'max_completion_tokens'", "max_tokens", "max_completion_tokens"),
        ("temperature", "only the default is supported", "temperature", "max_tokens"),
    ],
)
def test_a_parameter_that_is_not_liked_is_said_otherwise(
    stage: Stage, param: str, told: str, dropped: str, added: str
) -> None:
    refusal = {"status": 400, "param": param, "message": told, "times": 1}
    setting = stage({"answers": [refusal, _OK]})
    setting.client.ask(question(), purse())
    assert dropped not in setting.fake.asked[-1].body
    assert added in setting.fake.asked[-1].body
    assert setting.outcomes[-1] == ("json_schema", "answered")


def test_the_part_that_may_shrink_is_told_its_room(stage: Stage) -> None:
    told: list[int] = []

    def write(room: int) -> str:
        told.append(room)
        return "7: boom\n" * (room * 3 // 8)

    setting = stage({"answers": [_OK]}, context_tokens=8000)
    setting.client.ask(question(fit=Fit("digest", write)), purse())
    assert 2000 < told[0] < 5500
    assert setting.calls[0].tokens_in < 8000 - 2 * 1200


def test_it_shrinks_further_where_the_endpoint_counts_more(stage: Stage) -> None:
    rooms: list[int] = []

    def write(room: int) -> str:
        rooms.append(room)
        return "x" * (room * 3)

    setting = stage({"answers": [_OK], "context_tokens": 5000}, context_tokens=9000)
    setting.client.ask(question(fit=Fit("digest", write)), purse())
    assert len(rooms) > 1
    assert rooms[1] == pytest.approx(rooms[0] * 0.7, abs=2)
    assert setting.outcomes == [("json_schema", "too_long")] * (len(rooms) - 1) + [
        ("json_schema", "answered")
    ]


@pytest.mark.parametrize(
    "asked",
    [
        {"digest": "7: boom\n" * 9000},
        {"fit": Fit("digest", lambda room: "x" * (room * 4))},
        {"fit": Fit("digest", lambda room: "x", least_tokens=7500)},
    ],
)
def test_nothing_is_cut_in_silence(stage: Stage, asked: dict[str, object]) -> None:
    setting = stage({"answers": [_OK]}, context_tokens=8000)
    with pytest.raises(ModelError) as caught:
        setting.client.ask(question(**asked), purse())
    error = caught.value
    assert (error.fault, error.retryable, setting.calls) == ("too_long", False, [])


@pytest.mark.parametrize(
    ("limits", "spent", "setting_name"),
    [
        (Limits(tokens=1000), Spending(), "FIRSTFAULT_MODEL_TOKENS"),
        (Limits(day_tokens=5000), Spending(9, 4000, 0.0), "FIRSTFAULT_MODEL_DAY_TOKENS"),
        (Limits(day_cost=1.0), Spending(9, 0, 0.9999), "FIRSTFAULT_MODEL_DAY_COST"),
    ],
)
def test_what_the_budget_does_not_allow_is_not_sent(
    stage: Stage, limits: Limits, spent: Spending, setting_name: str
) -> None:
    setting = stage({"answers": [_OK]}, prices=Prices(1.0, 1.0))
    with pytest.raises(ModelError, match=setting_name) as caught:
        setting.client.ask(question(), purse(limits, spent))
    assert (caught.value.fault, setting.calls) == ("budget", [])
    assert not setting.fake.asked


def test_a_diagnosis_is_held_to_its_tokens_over_several_questions(stage: Stage) -> None:
    setting = stage({"answers": [_OK]})
    budget = purse(Limits(tokens=3200))
    setting.client.ask(question(), budget)
    with pytest.raises(ModelError, match="a diagnosis may take"):
        setting.client.ask(question(), budget)


def test_the_sum_of_a_day_is_read_from_the_calls_that_are_kept(
    stage: Stage, tmp_path: Path
) -> None:
    engine = connect(f"sqlite:///{tmp_path / 'f.db'}")
    migrate(engine)
    calls = Calls(engine)
    setting = stage({"answers": [_OK]})
    client = Client(setting.client.endpoint, calls.add)
    limits = Limits(day_tokens=3200)
    client.ask(question(), Budget(limits, calls.spent, diagnosis_id="dg_1"))
    with pytest.raises(ModelError, match="a day may take 3200"):
        client.ask(question(), Budget(limits, calls.spent, diagnosis_id="dg_2"))
    client.close()
    assert [call.outcome for call in calls.of_diagnosis("dg_1")] == ["answered"]
    engine.dispose()


def test_secrets_do_not_reach_the_endpoint(stage: Stage) -> None:
    setting = stage({"answers": [_OK]})
    asked = question(digest="7: boom at /home/ines with hf_abcdefghijklmnopqrst")
    masked = replace(asked, values={**asked.values, "findings": "HF_TOKEN=hf_abcdefghijklmnopqrst"})
    setting.client.ask(masked, purse())
    (sent,) = setting.fake.asked
    assert "/home/<USER_1> with <KEY_1>" in sent.text
    assert "HF_TOKEN=<KEY_1>" in sent.text
    assert "hf_abc" not in str(sent.body)


def test_a_client_that_was_closed_can_be_asked_again(stage: Stage) -> None:
    setting = stage({"answers": [_OK]})
    setting.client.ask(question(), purse())
    setting.client.close()
    setting.client.ask(question(), purse())
    setting.client.close()
    setting.client.close()
