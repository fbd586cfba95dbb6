"""Wherever an endpoint puts the words of the model, they are found."""

import json

import pytest

from app.errors import ModelError
from app.reason.completion import Text, read
from tests.reason.conftest import GOOD, Stage, purse, question

_JSON = json.dumps(GOOD)
_DRAFT = json.dumps({**GOOD, "cause": "Unknown"})


@pytest.mark.parametrize("within", ["content", "parts", "reasoning_content", "reasoning"])
@pytest.mark.parametrize(
    "reply",
    [
        _JSON,
        f"```json\n{_JSON}\n```",
        f"<think>It may be {_DRAFT}, or not.</think>\n\n{_JSON}",
        f"<think>It may be {_DRAFT}. No: {_JSON}</think>",
        f"<|channel|>analysis<|message|>{_DRAFT}?<|end|><|channel|>final<|message|>{_JSON}",
    ],
)
def test_an_answer_is_found_wherever_it_stands(stage: Stage, within: str, reply: str) -> None:
    setting = stage({"answers": [{"replies": [reply], "within": within}]})
    assert setting.client.ask(question(), purse()).reply.cause == "ECCError"
    assert setting.outcomes == [("json_schema", "answered")]


def test_the_arguments_of_a_tool_that_nobody_offered_are_an_answer(stage: Stage) -> None:
    line = {"replies": [GOOD], "within": "arguments", "ends": "tool_calls"}
    setting = stage({"answers": [line]})
    assert setting.client.ask(question(), purse()).reply.cause == "ECCError"


@pytest.mark.parametrize("within", ["parts", "arguments", "reasoning_content"])
def test_words_that_are_no_answer_are_repaired_as_any_others(stage: Stage, within: str) -> None:
    vague = {"replies": ["Hm. It looks like memory."], "within": within, "times": 1}
    setting = stage({"answers": [vague, {"replies": [GOOD]}]})
    assert setting.client.ask(question(), purse()).reply.cause == "ECCError"
    *_, said, _ = setting.fake.asked[1].body["messages"]
    assert said["content"] == "Hm. It looks like memory."


def test_thoughts_that_were_cut_are_no_answer(stage: Stage) -> None:
    line = {"replies": [f"It may be {_DRAFT}, or"], "within": "reasoning_content", "ends": "length"}
    setting = stage({"answers": [line]})
    with pytest.raises(ModelError, match="the reply is longer than") as caught:
        setting.client.ask(question(), purse())
    assert caught.value.fault == "cut"


def body(message: object, usage: object = None, reason: object = "stop") -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}]}, "a"),
        ({"content": [{"text": "a"}, "b"]}, "ab"),
        ({"content": {"type": "text", "text": "a"}}, "a"),
        ({"content": {"cause": "ECCError"}}, '{"cause": "ECCError"}'),
        ({"content": "a", "reasoning_content": "b", "tool_calls": []}, "a"),
        ({"content": "", "reasoning": {"effort": 3}, "reasoning_content": "b"}, "b"),
        ({"tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]}, '{"x": 1}'),
    ],
)
def test_words_are_taken_in_all_their_shapes(message: object, text: str) -> None:
    assert read(body(message)).texts == (Text(text),)


@pytest.mark.parametrize(
    "message",
    [{}, {"content": None}, {"content": 7}, {"content": []}, {"content": [{"type": "thinking"}]},
     {"tool_calls": [{}]}, {"content": "  "}],
)  # fmt: skip
def test_a_message_without_words_is_empty(message: object) -> None:
    assert read(body(message)).texts == (Text("", "empty"),)


@pytest.mark.parametrize("usage", [None, [], "many", {"prompt_tokens": None}, {}])
def test_what_was_not_counted_is_left_open(usage: object) -> None:
    raw = read(body({"content": "a"}, usage))
    assert (raw.texts, raw.tokens_in, raw.tokens_out) == ((Text("a"),), None, None)


@pytest.mark.parametrize("told", [b"", b"null", b"[]", b'{"choices": null}', b'{"choices": [{}]}'])
def test_what_is_no_completion_is_refused(told: bytes) -> None:
    with pytest.raises(ValueError, match="validation error"):
        read(told)
