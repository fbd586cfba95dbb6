"""A real llama.cpp server with a real model: the wire, and each rung of the ladder.

What a model of 135 million parameters says is nonsense, and another kind of nonsense on another
machine. So nothing here depends on its words: where the server holds it to a schema the answer
fits, where it does not anything may come back, and the rules' answer stands.
"""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from app.consult import consult
from app.errors import ModelError
from app.masking import Masks
from app.pipeline import examine
from app.reason.budget import Budget, Limits
from app.reason.call import Call, Spending
from app.reason.client import Client
from app.reason.desk import Desk, Endpoint
from app.reason.exchange import Answer, Exchange
from app.reason.failure_agent import FailureAgent
from app.reason.forms import FORMS, Reply
from app.reason.prompt import Prompts
from app.reason.question import Fit, Question
from app.reason.retry import Timing
from app.store.calls import Calls
from app.store.database import connect
from app.store.migrate import migrate
from tests.llama.__main__ import CONTEXT_TOKENS, missing
from tests.reason.test_prompt import FOLDER
from tests.test_consult import DARK

pytestmark = [
    pytest.mark.llama,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

_SECONDS = 240.0  # for one question, on a machine that does other things
_PUMP = """\
title: Which part of a pump is broken
summary: Asked of pumps.
version: 1
needs: [log]
answers: Broken
budget: {reply_tokens: 60, temperature: 0}
system: |
  You read what a pump prints and name the part that is broken.
prompt: |
  It printed:
  $log

  Name the part.
"""


class Broken(Reply):
    part: Literal["valve", "shaft", "unknown"]
    sure: bool


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The server, in a process of its own."""
    command = [sys.executable, "-m", "tests.llama"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip() + "/v1"
        process.terminate()


def endpoint(url: str, context_tokens: int = CONTEXT_TOKENS) -> Endpoint:
    return Endpoint("smollm2", url, context_tokens=context_tokens, seconds=_SECONDS)


def purse() -> Budget:
    return Budget(Limits(), lambda _: Spending())


@pytest.fixture
def pump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Question[Broken]:
    monkeypatch.setitem(FORMS, "Broken", Broken)
    (tmp_path / "pump.yaml").write_text(_PUMP)
    log = Fit("log", lambda room: "the shaft broke in two\n" * (room // 9))
    return Question("name the part", Prompts(tmp_path)["pump"], Broken, {}, Masks(), log)


def short(question: Question[Broken]) -> Question[Broken]:
    values = {"log": "the shaft broke in two\n"}
    return Question(question.purpose, question.prompt, Broken, values, Masks())


def put(desk: Desk, question: Question[Broken], count: int) -> tuple[Answer[Broken], ...]:
    async def once() -> tuple[Answer[Broken], ...]:
        try:
            return await Exchange(desk, question, purse(), None, _SECONDS).answers(count)
        finally:
            await desk.close()

    return asyncio.run(once())


@pytest.mark.parametrize("rung", ["json_schema", "json_object"])
def test_the_server_holds_the_model_to_a_schema_on_both_upper_rungs(url, pump, rung):
    calls: list[Call] = []
    desk = Desk(endpoint(url), calls.append, Timing())
    while desk.ladder.style.rung != rung:
        assert desk.ladder.lower(desk.ladder.style)
    (answer,) = put(desk, short(pump), 1)
    assert isinstance(answer.reply, Broken)
    (call,) = calls
    assert (call.rung, call.outcome) == (rung, "answered")
    assert 20 < call.tokens_in < 1000
    assert 0 < call.tokens_out <= 60


def test_on_the_lowest_rung_an_answer_is_read_or_refused_in_words(url, pump):
    calls: list[Call] = []
    desk = Desk(endpoint(url), calls.append, Timing())
    while desk.ladder.lower(desk.ladder.style):
        pass
    with contextlib.suppress(ModelError):
        (answer,) = put(desk, short(pump), 1)
        assert isinstance(answer.reply, Broken)
    assert {call.rung for call in calls} == {"plain"}
    assert {call.outcome for call in calls} <= {"answered", "invalid", "cut", "empty"}


def test_a_server_that_gives_one_answer_at_a_time_is_asked_singly(url, pump):
    calls: list[Call] = []
    desk = Desk(endpoint(url), calls.append, Timing())
    assert len(put(desk, short(pump), 3)) == 3
    assert [call.outcome for call in calls] == ["rejected", *["answered"] * 3]
    assert not desk.ladder.style.many
    assert desk.ladder.style.rung == "json_schema"


def test_a_question_that_is_longer_than_the_window_is_told_apart(url, pump):
    calls: list[Call] = []
    desk = Desk(endpoint(url, 12 * CONTEXT_TOKENS), calls.append, Timing())
    with pytest.raises(ModelError, match="context size") as caught:
        put(desk, pump, 1)
    assert caught.value.fault == "too_long"
    assert [call.outcome for call in calls] == ["too_long"] * 3
    assert calls[0].tokens_in > calls[1].tokens_in > calls[2].tokens_in


def test_nonsense_leaves_the_rules_verdict_and_its_calls_are_kept(url, compiled, tmp_path):
    """The shipped question; within so few tokens no model can quote a line and name a cause."""
    log = tmp_path / "train.log"
    log.write_text(DARK)
    database = f"sqlite:///{tmp_path}/calls.db"
    migrate(connect(database))
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    for path in FOLDER.glob("*.yaml"):
        text = path.read_text().replace("reply_tokens: 1200", "reply_tokens: 16")
        (prompts / path.name).write_text(text)
    calls = Calls(connect(database))
    client = Client(endpoint(url), calls.add)
    agent = FailureAgent(client, Prompts(prompts), Limits(), calls.spent)
    case = examine([log], compiled)
    found = consult(case, agent, diagnosis_id="dg_1")
    client.close()
    assert found.verdict.primary == case.diagnosis.verdict.primary
    assert found.plan == case.diagnosis.plan
    assert found.asked is not None
    kept = calls.of_diagnosis("dg_1")
    assert kept
    assert {call.purpose for call in kept} == {"name the cause"}
    assert {call.outcome for call in kept} <= {"answered", "invalid", "cut"}
    assert all(call.tokens_in > 1000 and call.tokens_out > 0 for call in kept)
