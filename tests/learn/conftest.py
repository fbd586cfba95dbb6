"""A small hall of pumps: rules, logs whose cause is known, and a signal that was written for one.

Tests take one thing at a time out of order and see which gate refuses.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.learn.draft import Draft, draft
from app.learn.labelled import Labelled
from app.learn.trial import Rules, Trial
from app.reason.forms import SignalReply
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from tests.small_rules import write_rules

JAMMED = "valve 7 of hall-a jammed shut, the line is closed"
GOOD = {
    "why": "The controller says so when a valve no longer moves.",
    "name": "valve_jammed",
    "says": "a valve jammed shut",
    "strength": "proof",
    "match": [r"valve \d+ of [\w-]+ jammed shut"],
    "hits": [JAMMED],
    "misses": ["valve 7 of hall-a jammed for a moment"],
}
LOGS: Mapping[str, tuple[str, str]] = {
    "healthy": ("Completed", "valve 7 of hall-a opens\n" * 9),
    "leak": ("PumpFault", "pump 3 leaks\n"),
    "waited": ("Waiting", "gauge 1 reads 4\nwaited 30 s for the pump\n"),
}


@dataclass
class Hall:
    """Where the logs and rules of one test lie."""

    folder: Path
    rules: Rules

    def log(self, name: str, cause: str, text: str) -> Labelled:
        path = self.folder / f"{name}.log"
        path.write_text(text)
        return Labelled(name, cause, paths=(path,))

    def trial(
        self,
        *,
        logs: Mapping[str, tuple[str, str]] = LOGS,
        confirmed: str = f"gauge 1 reads 4\n{JAMMED}\n",
        cause: str = "PumpFault",
        checked: bool = True,
        **changed: object,
    ) -> Trial:
        """Make a trial of the good signal with some fields changed."""
        fields = {**GOOD, **changed}
        reply = SignalReply.model_validate(fields) if checked else _unchecked(fields)
        one: Draft = draft(cause, reply, ())
        others = [self.log(name, right, text) for name, (right, text) in logs.items()]
        failure = self.log("confirmed", "PumpFault", confirmed)
        return Trial(one, [failure], others, self.rules)


def _unchecked(fields: Mapping[str, object]) -> SignalReply:
    return SignalReply.model_construct(
        **{"exception": (), "message": None, "unless": None}, **fields
    )


@pytest.fixture
def hall(tmp_path: Path) -> Hall:
    folder = write_rules(tmp_path / "rules")
    return Hall(tmp_path, Rules(folder, tmp_path / "learned", Compiled(load(folder))))


Tried = Callable[..., Trial]
