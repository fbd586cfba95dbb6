"""How an endpoint likes to be asked: found out by asking, and remembered.

Servers that speak the same protocol differ in what they take. Some hold the model to a schema,
some to JSON alone, some to nothing; some want another name for the length of the reply, or no
temperature, or answer once however many answers are asked for. A client begins at the top and
comes down where it is refused, and a rung that has borne an answer is not left for a server's
passing weakness.
"""

from dataclasses import dataclass, replace
from typing import Literal

from app.reason.call import Rung

_BELOW: dict[Rung, Rung] = {"json_schema": "json_object", "json_object": "plain"}


@dataclass(frozen=True, slots=True)
class Style:
    """One way to ask."""

    rung: Rung = "json_schema"
    length: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    many: bool = True


class Ladder:
    """What is known of one endpoint; for one thread."""

    def __init__(self) -> None:
        """Begin with the best."""
        self.style = Style()
        self._borne: set[Style] = set()

    def adapt(self, refused: Style, param: str | None, told: str) -> bool:
        """Ask otherwise after a refusal that blames a parameter or tells something.

        Says no where no other way is left.
        """
        if refused != self.style:  # another question was refused before, and it is changed already
            return True
        blamed = param or told
        if "temperature" in blamed and refused.temperature:
            self.style = replace(refused, temperature=False)
        elif "max_tokens" in blamed and refused.length == "max_tokens":
            self.style = replace(refused, length="max_completion_tokens")
        elif refused.many and (param == "n" or "'n'" in told or "`n`" in told):
            self.style = replace(refused, many=False)
        else:
            return self.lower(refused)
        return True

    def lower(self, failed: Style) -> bool:
        """Go one rung down; say no at the lowest one and where the rung has borne an answer."""
        if failed != self.style:
            return True
        if failed.rung not in _BELOW or any(style.rung == failed.rung for style in self._borne):
            return False
        self.style = replace(failed, rung=_BELOW[failed.rung])
        return True

    def bear(self, style: Style) -> None:
        """Learn that a way to ask has led to an answer that fits."""
        self._borne.add(style)

    def ignores_many(self) -> None:
        """Learn that the endpoint answers once however many answers are asked for."""
        single = replace(self.style, many=False)
        if self.style in self._borne:
            self.bear(single)
        self.style = single

    def back_to(self, style: Style) -> None:
        """Forget what was tried in vain; what has borne an answer of another question stays."""
        if self.style not in self._borne:
            self.style = style
