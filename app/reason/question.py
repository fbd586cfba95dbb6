"""A question to a model, and how it is brought to fit the context window.

One variable of a question may shrink: its writer is told how many tokens there are and gives a
text within them, as the digest does. Nothing is cut behind a caller's back; a question that does
not fit is refused. Everything that is not `Trusted` is masked before it is filled in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.errors import ModelError
from app.masking import Masks
from app.reason.forms import Reply
from app.reason.prompt import Messages, Prompt, Trusted
from app.token_count import tokens

F = TypeVar("F", bound=Reply)

_FRAME_TOKENS = 64  # what the roles of messages take, with some to spare
_MASKS_SHARE = 0.02  # masks may be longer than what they hide


@dataclass(frozen=True, slots=True)
class Fit:
    """The variable that may shrink: `write` gives a text of at most so many tokens."""

    name: str
    write: Callable[[int], str]
    least_tokens: int = 400


@dataclass(frozen=True, slots=True)
class Question(Generic[F]):
    """What to ask, for what, and the form of the reply; `masks` are those of the log.

    By the `lenient` form a reply is read that was not mended: it asks less.
    """

    purpose: str
    prompt: Prompt
    form: type[F]
    values: Mapping[str, str]
    masks: Masks
    fit: Fit | None = None
    lenient: type[F] | None = None

    def filled(self, room_tokens: int, share: float = 1.0) -> Messages:
        """Write the question into so many tokens; the variable that may shrink takes a share.

        Raises ModelError where the rest of the question leaves too little for it.
        """
        values = {name: self._masked(value) for name, value in self.values.items()}
        if self.fit is None:
            messages = self.prompt.fill(values)
            needed = tokens(messages.system + messages.prompt)
            if needed > room_tokens:
                raise _too_long(needed, room_tokens)
            return messages
        frame = self.prompt.fill({**values, self.fit.name: ""})
        room = room_tokens - tokens(frame.system + frame.prompt) - _FRAME_TOKENS
        room = int(room * share * (1 - _MASKS_SHARE))
        if room < self.fit.least_tokens:
            raise _too_long(room_tokens - room + self.fit.least_tokens, room_tokens)
        text = self.fit.write(room)
        if tokens(text) > room:
            raise _too_long(tokens(text), room)
        return self.prompt.fill({**values, self.fit.name: self._masked(text)})

    def _masked(self, value: str) -> str:
        return value if isinstance(value, Trusted) else self.masks.hide(value).text


def _too_long(needed: int, room: int) -> ModelError:
    told = f"the question takes about {needed} tokens, and there is room for {room}"
    return ModelError("too_long", f"{told} (FIRSTFAULT_MODEL_CONTEXT_TOKENS)")
