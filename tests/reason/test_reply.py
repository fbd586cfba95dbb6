import json
import time

import pytest

from app.reason.forms import OpinionReply, opinion_among
from app.reason.reply import Misfit, read
from app.reason.schema import in_words, strict_schema
from tests.reason.conftest import GOOD

_JSON = json.dumps(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        _JSON,
        f"```json\n{_JSON}\n```",
        f"Sure, here you are: {_JSON} Anything else?",
        f"<think>a set {{1, 2}} and {{'cause': 'x'}}</think>\n{_JSON}",
        f"as {{asked}}: {_JSON}",
        '{"cause": "not yet"} then ' + _JSON,
        json.dumps({**GOOD, "cause": "Unknown"}) + " at first, but then " + _JSON,
        f"<think>{_JSON}</think> as I said",
        _JSON.replace("nothing", "one line\nand another"),
    ],
)
def test_the_object_is_found_among_words(text: str) -> None:
    found = read(text, OpinionReply)
    assert isinstance(found, OpinionReply)
    assert found.cause == "ECCError"


@pytest.mark.parametrize("text", ["", "It was ECC.", "{", "[1, 2]", "{" * 5000, '{"a":' * 9000])
def test_a_text_without_an_object_is_no_reply(text: str) -> None:
    began = time.process_time()
    assert read(text, OpinionReply) == Misfit("it holds no JSON object", is_json=False)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"cause": "no cause"}, "cause: String should match pattern"),
        ({"confidence": 0.9}, "confidence: Input should be 'certain', 'likely' or 'doubtful'"),
        ({"mood": "good"}, "mood: Extra inputs are not permitted"),
        ({"more": {"pattern": "Xid 79", "first_line": 3, "last_line": 4}}, "give either"),
        ({"more": {"first_line": 9, "last_line": 4}}, "must not come after"),
        ({"more": {"first_line": 9}}, "give either"),
    ],
)
def test_what_is_wrong_is_told_in_words(change: dict[str, object], told: str) -> None:
    found = read(json.dumps({**GOOD, **change}), OpinionReply)
    assert isinstance(found, Misfit)
    assert found.is_json
    assert told in found.told


def test_many_faults_are_told_in_part() -> None:
    quotes = [{"line": 0} for _ in range(9)]
    found = read(json.dumps({**GOOD, "quotes": quotes}), OpinionReply)
    assert isinstance(found, Misfit)
    assert found.told.endswith("and 10 more")


def test_the_schema_is_closed_flat_and_asks_for_every_field() -> None:
    schema = strict_schema(OpinionReply)
    text = json.dumps(schema)
    assert not [word for word in ("$ref", "$defs", "default", "title", "minimum") if word in text]
    assert text.count('"additionalProperties": false') == 3
    assert schema["required"] == ["quotes", "against", "cause", "confidence", "more"]
    assert text.replace(" ", "") in in_words(OpinionReply).replace(" ", "")


def test_the_last_word_offers_no_further_look_and_takes_a_wish_for_none() -> None:
    form = opinion_among(["ECCError"], last=True)
    schema = strict_schema(form)
    assert schema["required"] == ["quotes", "against", "cause", "confidence"]
    assert "more" not in json.dumps(schema)
    for wish in (None, {"pattern": "Xid 79"}, "all of it"):
        found = read(json.dumps({**GOOD, "more": wish}), form)
        assert isinstance(found, OpinionReply)
        assert found.more is None
    assert "more" in json.dumps(strict_schema(opinion_among(["ECCError"])))
