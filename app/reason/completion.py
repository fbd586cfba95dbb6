"""Read what a chat endpoint sends back.

Endpoints that merely resemble OpenAI's leave out what they like, and put the words of the model
where they like: as parts of a list, behind the thoughts of the model or among them, or as the
arguments of a tool that nobody offered. So the form is a loose one, and words are taken wherever
they are, those that are meant as the answer first.
"""

import json
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, BeforeValidator

from app.errors import ModelFault

_MOST_TOKENS = 1_000_000_000  # what an endpoint counts beyond it is no count
_SAID = (None, "text", "output_text")  # kinds of parts; others are thoughts, images, sounds


@dataclass(frozen=True, slots=True)
class Text:
    """One answer; `fault` says why it is none."""

    text: str
    fault: ModelFault | None = None


@dataclass(frozen=True, slots=True)
class Raw:
    """What came back; tokens are None where the endpoint did not count them."""

    texts: tuple[Text, ...]
    tokens_in: int | None
    tokens_out: int | None


def read(body: bytes) -> Raw:
    """Take the answers out of a response; raise ValueError where it is no chat completion."""
    completion = _Completion.model_validate_json(body)
    usage = completion.usage
    texts = tuple(map(_text, completion.choices)) or (Text("", "empty"),)
    return Raw(texts, usage.prompt_tokens, usage.completion_tokens)


def _flat(told: object) -> str:
    """Write out words that come in one piece, in parts, or as the object that was asked for."""
    if isinstance(told, str):
        return told
    if isinstance(told, list):
        return "".join(map(_flat, told))
    if not isinstance(told, dict):
        return ""
    if told.keys() & {"type", "text"}:
        return _flat(told.get("text")) if told.get("type") in _SAID else ""
    return json.dumps(told)


_Words = Annotated[str, BeforeValidator(_flat)]


class _Called(BaseModel):
    arguments: _Words = ""


class _ToolCall(BaseModel):
    function: _Called = _Called()


class _Message(BaseModel):
    content: _Words = ""
    refusal: _Words = ""
    reasoning_content: _Words = ""
    reasoning: _Words = ""
    tool_calls: tuple[_ToolCall, ...] | None = None

    def words(self) -> str:
        """Give what holds the answer, the likeliest first."""
        called = [call.function.arguments for call in self.tool_calls or ()]
        likely = (self.content, *called, self.reasoning_content, self.reasoning)
        return next((words for words in likely if words.strip()), "")


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


def _counted(told: object) -> int | None:
    """Take a count that may be true: budgets rest on it, so the rest is left to our estimate."""
    return told if isinstance(told, int) and 0 <= told <= _MOST_TOKENS else None


def _object(told: object) -> object:
    return told if isinstance(told, dict) else {}


_Count = Annotated[int | None, BeforeValidator(_counted)]


class _Usage(BaseModel):
    prompt_tokens: _Count = None
    completion_tokens: _Count = None


class _Completion(BaseModel):
    choices: tuple[_Choice, ...]
    usage: Annotated[_Usage, BeforeValidator(_object)] = _Usage()


def _text(choice: _Choice) -> Text:
    refusal, text = choice.message.refusal, choice.message.words()
    if refusal or choice.finish_reason == "content_filter":
        return Text(refusal or text, "refused")
    if choice.finish_reason == "length":
        return Text(choice.message.content, "cut")  # thoughts that are cut hold but drafts
    return Text(text, None if text else "empty")
