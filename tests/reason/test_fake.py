import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from app.errors import RulebookError, UsageError
from app.reason import failure_agent, log_agent, rule_agent
from app.reason.fake import FakeModel
from app.reason.script import Script, load
from tests.pages import ROOT
from tests.reason.test_prompt import SHIPPED

_SCRIPT = """\
model: parrot
answers:
  - when: {purpose: greet, holds: [hello]}
    times: 1
    replies: [good morning, {said: good evening}]
  - replies: [anything else that is longer than a piece]
  - {replies: [never said]}
"""


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeModel]:
    path = tmp_path / "script.yaml"
    path.write_text(_SCRIPT)
    with FakeModel(load(path)) as running:
        yield running


def said(fake: FakeModel, text: str, **body: object) -> httpx2.Response:
    asked = {"model": "x", "messages": [{"role": "user", "content": text}], **body}
    headers = {"x-firstfault-purpose": "greet"}
    return httpx2.post(f"{fake.url}/chat/completions", json=asked, headers=headers)


def test_the_first_answer_that_fits_is_given_as_often_as_it_may(fake: FakeModel) -> None:
    both = said(fake, "hello", n=2).json()["choices"]
    assert [choice["message"]["content"] for choice in both] == [
        "good morning",
        '{"said": "good evening"}',
    ]
    assert "anything else" in said(fake, "hello").text


def test_it_lists_its_model_and_tells_what_it_was_asked(fake: FakeModel) -> None:
    said(fake, "bye", temperature=0.5)
    assert httpx2.get(f"{fake.url}/models").json()["data"][0]["id"] == "parrot"
    (asked,) = httpx2.get(f"{fake.url.removesuffix('/v1')}/asked").json()
    assert (asked["purpose"], asked["temperature"]) == ("greet", 0.5)
    assert fake.asked[0].text == "bye"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"hello", None),
        (b"", None),
        (b"\xff", None),
        (b"[" * 100_000, None),
        (b"[]", None),
        (b"7", None),
        (b'{"n": 0, "stream": true}', "n"),
        (b'{"n": -3}', "n"),
        (b'{"n": 129}', "n"),
        (b'{"n": true}', "n"),
        (b'{"n": "2"}', "n"),
    ],
)
def test_what_is_no_question_is_refused_as_the_protocol_has_it(
    fake: FakeModel, body: bytes, param: str | None
) -> None:
    found = httpx2.post(f"{fake.url}/chat/completions", content=body)
    assert found.status_code == 400
    assert found.json()["error"].keys() == {"message", "type", "param", "code"}
    assert found.json()["error"]["param"] == param
    assert not fake.asked


def test_it_keeps_the_last_questions_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.reason.fake._MOST_KEPT", 2)
    with FakeModel(Script.model_validate({"answers": [{"replies": ["hi"]}]})) as short:
        for text in ("one", "two", "three"):
            said(short, text)
    assert [asked.text for asked in short.asked] == ["two", "three"]


def test_it_streams_in_pieces(fake: FakeModel) -> None:
    events = said(fake, "bye", stream=True).text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    assert len(events) > 4
    assert '"finish_reason": "stop"' in events[-3]


def test_a_stream_can_be_cut() -> None:
    script = Script.model_validate({"answers": [{"replies": ["x" * 99], "ends": "cut"}]})
    with FakeModel(script) as fake, pytest.raises(httpx2.RemoteProtocolError):
        said(fake, "hello", stream=True)


def test_a_question_without_an_answer_is_told_so() -> None:
    line = {"when": {"holds": ["hello"]}, "replies": ["hi"]}
    with FakeModel(Script.model_validate({"answers": [line]})) as fake:
        assert said(fake, "bye").status_code == 404


def test_a_port_that_is_taken_is_refused(fake: FakeModel) -> None:
    port = httpx2.URL(fake.url).port
    with pytest.raises(UsageError, match=f"port {port}"):
        FakeModel(Script(answers=()), port or 0).serve()


def test_faults_of_a_script_are_told_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("answers:\n  - {times: 0, replies: [x]}\n  - {times: 1}\n  - {repiles: [x]}\n")
    with pytest.raises(RulebookError) as caught:
        load(path)
    told = str(caught.value)
    assert "script.yaml:2: answers[0].times: must be at least 1" in told
    assert "script.yaml:3: answers[1]: give `replies`" in told
    assert "did you mean replies?" in told


def test_the_script_of_the_page_fits_the_questions_that_are_asked(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    page = (ROOT / "docs" / "model.md").read_text()
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    path.write_text(text)
    prompts = {
        failure_agent.PURPOSE: "failure_agent",
        failure_agent.AGAIN: "failure_agent",
        log_agent.PURPOSE: log_agent.PROMPT,
        rule_agent.PURPOSE: rule_agent.PROMPT,
    }
    *lines, last = load(path).answers
    assert {line.when.purpose for line in lines} == prompts.keys()
    assert last.when.purpose is None
    for line in lines:
        form = SHIPPED[prompts[line.when.purpose or ""]].answers
        for reply in line.replies:
            form.model_validate(reply)
