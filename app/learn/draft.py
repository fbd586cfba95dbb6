"""A signal that a model wrote, in the form in which people write signals."""

import json
from collections.abc import Collection
from dataclasses import dataclass, replace

import yaml

from app.reason.forms import SignalReply

_FIELDS = ("match", "exception", "message", "unless")


@dataclass(frozen=True, slots=True)
class Draft:
    """A signal of a cause; it `explains` signals that a confirmed log holds besides."""

    cause: str
    reply: SignalReply
    name: str
    explains: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole file, of the form of `rules/signals/`."""
        reply = self.reply
        signal: dict[str, object] = {
            "name": self.name,
            "cause": self.cause,
            "strength": reply.strength,
        }
        for field in _FIELDS:
            value = getattr(reply, field)
            if value:
                signal[field] = list(value) if isinstance(value, tuple) else value
        signal["says"] = reply.says
        if self.explains:
            signal["explains"] = {"if_earlier": list(self.explains)}
        signal |= {"hits": list(reply.hits), "misses": list(reply.misses)}
        file = {
            "title": f"A way in which {self.cause} shows, learned from a confirmed failure",
            "summary": reply.why,
            "signals": [signal],
        }
        return yaml.safe_dump(file, sort_keys=False, allow_unicode=True, width=96)

    def explaining(self, *signals: str) -> "Draft":
        """Say of further signals that they are consequences of it."""
        return replace(self, explains=tuple(dict.fromkeys((*self.explains, *signals))))


def looks_for(text: str) -> str:
    """Give what a written signal looks for, whatever it is called and however it is explained."""
    (signal,) = yaml.safe_load(text)["signals"]
    return json.dumps([signal.get(field) for field in ("cause", *_FIELDS)])


def draft(cause: str, reply: SignalReply, taken: Collection[str]) -> Draft:
    """Give a reply a name that no rule has yet."""
    number, name = 1, reply.name
    while name in taken:
        number += 1
        name = f"{reply.name}_{number}"
    return Draft(cause, reply, name)
