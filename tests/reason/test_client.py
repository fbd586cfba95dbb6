"""Each way in which an endpoint fails, on a real port."""

import asyncio
import email.utils
import json
import socket
import time

import pytest

from app.errors import ModelError
from app.reason.budget import Prices
from app.reason.client import Client
from app.reason.desk import Endpoint
from app.reason.fake import FakeModel
from app.reason.script import Script
from tests.reason.conftest import GOOD, Setting, Stage, purse, question
from tests.reason.test_prompt import SHIPPED

_OK = {"replies": [GOOD]}


def failed(setting: Setting, **asked: object) -> ModelError:
    with pytest.raises(ModelError) as caught:
        setting.client.ask(question(**asked), purse())
    return caught.value


def test_an_answer_is_read_into_its_form_and_the_call_is_recorded(stage: Stage) -> None:
    setting = stage({"answers": [_OK]}, prices=Prices(1.0, 2.0))
    budget = purse()
    answer = setting.client.ask(question(), budget)
    assert (answer.reply.cause, answer.reply.quotes[0].line) == ("ECCError", 7)
    assert "7: boom" in answer.shown
    (call,) = setting.calls
    assert (call.rung, call.outcome, call.model) == ("json_schema", "answered", "fake")
    version = SHIPPED["failure_agent"].form.version
    told = (call.prompt, call.prompt_version, call.diagnosis_id)
    assert told == ("failure_agent", version, "dg_1")
    assert call.cost == pytest.approx((call.tokens_in + 2 * call.tokens_out) / 1e6)
    assert (budget.tokens, budget.cost) == (call.tokens_in + call.tokens_out, call.cost)


def test_the_request_asks_for_the_schema_and_names_its_purpose(stage: Stage) -> None:
    setting = stage({"answers": [_OK]})
    setting.client.ask(question(), purse())
    (asked,) = setting.fake.asked
    schema = asked.body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["properties"]["cause"]["enum"] == ["ECCError", "Unknown"]
    assert schema["schema"]["required"] == ["quotes", "against", "cause", "confidence", "more"]
    assert asked.purpose == "name the cause"
    assert asked.body["max_tokens"] == 1200


def test_an_endpoint_that_counts_no_tokens_is_estimated(stage: Stage) -> None:
    setting = stage({"answers": [_OK], "counts_tokens": False})
    setting.client.ask(question(), purse())
    assert setting.calls[0].tokens_in > 500
    assert setting.calls[0].tokens_out > 20


@pytest.mark.parametrize("status", [400, 422, 501])
def test_a_refused_rung_is_left_at_once_and_for_good(stage: Stage, status: int) -> None:
    setting = stage({"refuses": {"json_schema": status}, "answers": [_OK]})
    setting.client.ask(question(), purse())
    setting.client.ask(question(), purse())
    assert setting.outcomes == [
        ("json_schema", "rejected"),
        ("json_object", "answered"),
        ("json_object", "answered"),
    ]
    assert "JSON Schema" in setting.fake.asked[1].text


def test_a_rung_that_breaks_the_server_twice_is_left(stage: Stage) -> None:
    setting = stage({"refuses": {"json_schema": 500, "json_object": 400}, "answers": [_OK]})
    setting.client.ask(question(), purse())
    setting.client.ask(question(), purse())
    assert [rung for rung, _ in setting.outcomes] == [
        "json_schema", "json_schema", "json_object", "plain", "plain",
    ]  # fmt: skip
    assert "response_format" not in setting.fake.asked[-1].body


def test_a_rung_that_has_borne_an_answer_is_not_left_for_an_outage(stage: Stage) -> None:
    outage = {"status": 503, "times": 2}
    setting = stage({"answers": [{**_OK, "times": 1}, outage, _OK]})
    setting.client.ask(question(), purse())
    setting.client.ask(question(), purse())
    assert {rung for rung, _ in setting.outcomes} == {"json_schema"}
    assert setting.slept == [0.5, 2.0]


def test_a_server_that_stays_broken_is_told_and_the_rung_is_kept(stage: Stage) -> None:
    setting = stage({"answers": [{"status": 500, "times": 7}, _OK]})
    error = failed(setting)
    assert (error.fault, error.retryable) == ("broken", True)
    assert "HTTP 500" in str(error)
    setting.client.ask(question(), purse())
    assert setting.outcomes[-1] == ("json_schema", "answered")


def test_a_reply_without_json_is_repaired_one_rung_below(stage: Stage) -> None:
    setting = stage({"answers": [{"replies": ["It was ECC."], "times": 1}, _OK]})
    assert setting.client.ask(question(), purse()).reply.cause == "ECCError"
    assert setting.outcomes == [("json_schema", "invalid"), ("json_object", "answered")]


def test_the_model_is_told_what_is_wrong_with_its_reply(stage: Stage) -> None:
    wrong = {**GOOD, "cause": "Gremlins", "quotes": [{"line": 0, "text": "boom"}]}
    setting = stage({"answers": [{"replies": [wrong], "times": 1}, _OK]})
    setting.client.ask(question(), purse())
    *_, said, told = setting.fake.asked[1].body["messages"]
    assert "Gremlins" in said["content"]
    assert "cause: Input should be 'ECCError' or 'Unknown'" in told["content"]
    assert "quotes.0.line: Input should be greater than or equal to 1" in told["content"]


def test_a_second_reply_that_does_not_fit_is_the_last(stage: Stage) -> None:
    setting = stage({"answers": [{"replies": [{"cause": "ECCError"}]}]})
    error = failed(setting)
    assert (error.fault, error.retryable) == ("invalid", False)
    assert "quotes: Field required" in str(error)
    assert setting.outcomes == [("json_schema", "invalid")] * 2


def test_retry_after_is_obeyed(stage: Stage) -> None:
    setting = stage({"answers": [{"status": 429, "retry_after": 3, "times": 1}, _OK]})
    setting.client.ask(question(), purse())
    assert setting.slept == [3.0]
    assert setting.outcomes == [("json_schema", "rate_limited"), ("json_schema", "answered")]


def test_retry_after_may_be_a_date(stage: Stage) -> None:
    date = email.utils.formatdate(time.time() + 60, usegmt=True)
    limited = {"status": 429, "retry_after": date, "times": 1}
    setting = stage({"answers": [limited, _OK]}, seconds=90.0)
    setting.client.ask(question(), purse())
    assert 30 < setting.slept[0] <= 60


@pytest.mark.parametrize(
    "told",
    [
        "soon",
        "Mon, 01 Jan 99999 00:00:00 GMT",
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
    ],
)
def test_a_retry_after_that_says_nothing_is_left_aside(stage: Stage, told: str) -> None:
    setting = stage({"answers": [{"status": 429, "retry_after": told, "times": 1}, _OK]})
    setting.client.ask(question(), purse())
    assert setting.slept == [0.5]


def test_a_wait_that_would_outlast_the_question_is_not_begun(stage: Stage) -> None:
    setting = stage({"answers": [{"status": 429, "retry_after": 3600}]})
    error = failed(setting)
    assert (error.fault, error.retryable, setting.slept) == ("rate_limited", True, [])


@pytest.mark.parametrize(
    ("line", "fault", "retryable", "tries"),
    [
        ({"status": 401}, "denied", False, 1),
        ({"status": 429, "code": "insufficient_quota"}, "denied", False, 1),
        ({"status": 404, "message": "no such model"}, "rejected", False, 1),
        ({"status": 400, "message": "bad"}, "rejected", False, 3),
        ({"refusal": "I would rather not."}, "refused", False, 1),
        ({"replies": ["{"], "ends": "content_filter"}, "refused", False, 1),
        ({"replies": ["  "]}, "empty", True, 3),
        ({"replies": [GOOD], "ends": "cut"}, "cut", True, 3),
        ({"replies": ["{"], "ends": "length"}, "cut", True, 2),
    ],
)
def test_each_failure_has_its_name(
    stage: Stage, line: dict[str, object], fault: str, retryable: bool, tries: int
) -> None:
    setting = stage({"answers": [line]})
    error = failed(setting)
    assert (error.fault, error.retryable) == (fault, retryable)
    assert len(setting.calls) == tries
    assert "fake at http://127.0.0.1" in str(error)


@pytest.mark.parametrize(("context", "least", "most"), [(32_768, 4800, 4800), (8000, 2400, 4700)])
def test_a_reply_that_was_too_long_may_take_more_where_there_is_room(
    stage: Stage, context: int, least: int, most: int
) -> None:
    cut = {"replies": ["{"], "ends": "length", "times": 1}
    setting = stage({"answers": [cut, _OK]}, context_tokens=context)
    setting.client.ask(question(digest="7: boom\n" * 600), purse())
    first, second = [asked.body["max_tokens"] for asked in setting.fake.asked]
    assert first == 1200
    assert least <= second <= most


def test_a_whole_answer_that_its_endpoint_calls_cut_is_taken(stage: Stage) -> None:
    setting = stage({"answers": [{"replies": [GOOD], "ends": "length"}]})
    assert setting.client.ask(question(), purse()).reply.cause == "ECCError"
    assert setting.outcomes == [("json_schema", "answered")]


@pytest.mark.parametrize("line", [{"hang": 30}, {"replies": [GOOD], "drip": 0.1}])
def test_the_deadline_holds_against_silence_and_against_single_bytes(
    stage: Stage, line: dict[str, object]
) -> None:
    setting = stage({"answers": [line]}, seconds=0.5)
    began = time.monotonic()
    error = failed(setting)
    assert time.monotonic() - began < 15
    assert (error.fault, error.retryable) == ("timeout", True)
    assert [outcome for _, outcome in setting.outcomes] == ["timeout"]
    assert "FIRSTFAULT_MODEL_SECONDS" in str(error)


def test_a_place_where_nobody_listens_is_unreachable(stage: Stage) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        setting = stage({"answers": [_OK]}, base_url=url)
        error = failed(setting)
    assert (error.fault, error.retryable) == ("unreachable", True)
    assert setting.slept == [0.5, 2.0]


@pytest.mark.parametrize("path", ["/v1", "/v1/"])
def test_a_base_url_may_end_in_a_slash(stage: Stage, path: str) -> None:
    setting = stage({"answers": [_OK]})
    url = setting.fake.url.removesuffix("/v1") + path
    client = Client(Endpoint("fake", url, seconds=30.0), setting.calls.append)
    assert client.ask(question(), purse()).reply.cause == "ECCError"
    client.close()


@pytest.mark.parametrize("path", ["", "/", "/v2"])
def test_a_base_url_with_another_path_is_told_what_may_be_wrong(stage: Stage, path: str) -> None:
    setting = stage({"answers": [_OK]})
    url = setting.fake.url.removesuffix("/v1") + path
    client = Client(Endpoint("fake", url, seconds=30.0), setting.calls.append)
    with pytest.raises(ModelError, match="a base URL mostly ends in /v1") as caught:
        client.ask(question(), purse())
    assert caught.value.fault == "rejected"
    client.close()


def test_a_model_on_this_machine_is_asked_past_the_proxy_of_the_environment(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    setting = stage({"answers": [_OK]})
    assert setting.client.ask(question(), purse()).reply.cause == "ECCError"


def test_a_model_elsewhere_is_asked_through_the_proxy_of_the_environment(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = stage({"answers": [_OK]})
    monkeypatch.setenv("http_proxy", other.fake.url.removesuffix("/v1"))
    monkeypatch.delenv("no_proxy", raising=False)
    setting = stage({"answers": []}, base_url="http://model.invalid/v1")
    assert setting.client.ask(question(), purse()).reply.cause == "ECCError"
    assert len(other.fake.asked) == 1


@pytest.mark.parametrize("fault", [{"status": 401}, {"hang": 5}])
def test_what_a_base_url_holds_of_secrets_is_not_told(
    stage: Stage, fault: dict[str, object]
) -> None:
    with FakeModel(Script.model_validate({"answers": [fault]})) as fake:
        url = f"{fake.url.replace('://', '://me:hunter2@')}?api-key=hunter2"
        error = failed(stage({"answers": []}, base_url=url, seconds=0.5))
    assert fake.url in str(error)
    assert "hunter2" not in str(error)


def test_a_page_of_a_proxy_is_no_completion(stage: Stage) -> None:
    setting = stage({"answers": [{"body": "<html>back soon</html>"}]})
    error = failed(setting)
    assert error.fault == "broken"
    assert "back soon" in str(error)


@pytest.mark.parametrize("told", [-5_000_000, 10**30, 1.5, "many"])
def test_a_count_of_tokens_that_cannot_be_true_is_estimated(stage: Stage, told: object) -> None:
    """Else an endpoint could fill or empty the budget of a day with one answer."""
    body = {
        "choices": [{"message": {"content": json.dumps(GOOD)}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": told, "completion_tokens": told},
    }
    setting = stage({"answers": [{"body": json.dumps(body)}]})
    assert setting.client.ask(question(), purse()).reply.cause == "ECCError"
    assert 500 < setting.calls[0].tokens_in < 5000
    assert 20 < setting.calls[0].tokens_out < 200


def test_an_error_that_comes_as_a_success_is_told(stage: Stage) -> None:
    setting = stage({"answers": [{"body": '{"error": {"message": "no credits", "code": 402}}'}]})
    fault = failed(setting)
    assert fault.fault == "broken"
    assert "no credits" in str(fault)


def test_a_wrong_path_says_what_may_be_wrong(stage: Stage) -> None:
    fault = failed(stage({"answers": []}))
    assert fault.fault == "rejected"
    assert "a base URL mostly ends in /v1" in str(fault)


def test_a_question_that_finds_no_free_place_says_so(stage: Stage) -> None:
    setting = stage({"answers": [_OK]}, seconds=0.2)
    setting.client._desk._places = asyncio.Semaphore(0)
    error = failed(setting)
    assert (error.fault, error.retryable, setting.calls) == ("busy", True, [])
    assert "FIRSTFAULT_MODEL_PARALLEL" in str(error)
