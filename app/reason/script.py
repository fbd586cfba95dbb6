"""The script of the fake model: which question gets which answer or failure.

Answers are tried from the top; the first whose conditions hold and that has `times` left is given.
`replies` are given in turns, one for each answer asked for. See `firstfault fake-model --help`.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from app.errors import RulebookError
from app.rulebook.form import Form
from app.rulebook.places import read
from app.rulebook.wording import in_words

_Reply = str | dict[str, object]
Within = Literal["content", "parts", "arguments", "reasoning_content", "reasoning"]


class When(Form):
    """Conditions on a question: its purpose, and texts that it must hold."""

    purpose: str | None = None
    holds: tuple[str, ...] = ()


class Line(Form):
    """One answer or failure.

    `hang` is seconds before the answer, `drip` seconds between two bytes of it. `body` is sent as
    it stands, as a proxy does that answers for a model which is down. `within` says where replies
    are put: in the `content` as it should be, in a list of its `parts`, in the `arguments` of a
    tool, among the thoughts (`reasoning_content` or `reasoning`).
    """

    when: When = When()
    times: int | None = Field(None, ge=1)
    replies: tuple[_Reply, ...] = ()
    status: int | None = Field(None, ge=400, le=599)
    message: str = "the script says so"
    param: str | None = None
    code: str | None = None
    retry_after: float | str | None = None
    hang: float = 0
    drip: float = 0
    ends: Literal["stop", "length", "content_filter", "tool_calls", "cut"] = "stop"
    refusal: str | None = None
    within: Within = "content"
    body: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "Line":
        if not (self.replies or self.status or self.hang or self.refusal or self.body):
            raise ValueError("give `replies`, `status`, `hang`, `refusal` or `body`")
        return self


class Script(Form):
    """What the fake model does; `refuses` gives the HTTP status for each rung it cannot do."""

    model: str = "fake"
    refuses: dict[Literal["json_schema", "json_object"], int] = {}
    ignores_n: bool = False
    counts_tokens: bool = True
    context_tokens: int | None = None
    answers: tuple[Line, ...]


class Playing:
    """A script that is being played."""

    def __init__(self, script: Script) -> None:
        """Begin from the top."""
        self.script = script
        self._given: Counter[int] = Counter()
        self._replies: Counter[int] = Counter()

    def line(self, purpose: str, text: str) -> Line | None:
        """Give the answer to a question; None where the script has none."""
        for index, line in enumerate(self.script.answers):
            when = line.when
            fits = when.purpose in (None, purpose) and all(part in text for part in when.holds)
            if fits and (line.times is None or self._given[index] < line.times):
                self._given[index] += 1
                return line
        return None

    def replies(self, line: Line, count: int) -> list[str]:
        """Give the next replies of an answer, in turns."""
        if not line.replies:
            return [""] * count
        index = self.script.answers.index(line)
        begin = self._replies[index]
        self._replies[index] += count
        chosen = [line.replies[(begin + k) % len(line.replies)] for k in range(count)]
        return [reply if isinstance(reply, str) else json.dumps(reply) for reply in chosen]


def load(path: Path) -> Script:
    """Read a script; raise RuleError or RulebookError with every fault in it."""
    document = read(path)
    try:
        return Script.model_validate(document.value)
    except ValidationError as error:
        faults = [document.fault(at, told) for at, told in in_words(error.errors())]
        raise RulebookError(faults) from error
