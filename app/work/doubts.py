"""Put what rules leave in doubt to a model, one diagnosis after the other, as long as it speaks.

A model that is gone costs its time out with every question. So where it gave no answer several
times in a row, it is left in peace for a while, and what is in doubt meanwhile stays as rules say.
"""

import time
from dataclasses import replace

from app.consult import consult
from app.errors import UsageError
from app.judge.in_doubt import in_doubt
from app.model import Diagnosis
from app.opinion import Asked
from app.work.asking import Agents, Asking
from app.work.reread import Sight

_SILENT = 5  # questions without an answer, in a row
_PEACE_SECONDS = 60.0


class Doubts:
    """Asks one model; may be used from several threads."""

    def __init__(self, asking: Asking, digest_tokens: int) -> None:
        """Open it; raise UsageError where the prompts are not those of the run."""
        self._agent = Agents().of(asking)
        self._digest_tokens = digest_tokens
        meant = asking.allowance.asks.edition if asking.allowance else self._agent.prompts
        if self._agent.prompts != meant:
            raise UsageError(f"the prompts in {asking.prompts} have changed since the run began")
        self._silent = 0
        self._until = 0.0
        self._why = ""

    def close(self) -> None:
        """Break off what is under way and close the connection."""
        self._agent.close()

    def settled(self, sight: Sight) -> Diagnosis:
        """Give the diagnosis after a model was heard, or as it was, with the reason."""
        assert sight.case is not None
        first = sight.case.diagnosis
        if not in_doubt(first.verdict):
            return first
        if time.monotonic() < self._until:
            told = f"the language model was not asked after {_SILENT} times in a row: {self._why}"
            return replace(first, asked=Asked(self._agent.model, self._agent.prompts, told))
        found = consult(
            sight.case,
            self._agent,
            diagnosis_id=sight.subject if sight.subject.startswith("dg_") else None,
            digest_tokens=self._digest_tokens,
            fetch=sight.fetch,
        )
        self._listen(found)
        return found

    def _listen(self, found: Diagnosis) -> None:
        if found.asked is None or found.asked.note is None:
            self._silent = 0
            return
        self._silent, self._why = self._silent + 1, found.asked.note
        if self._silent >= _SILENT:
            self._silent, self._until = 0, time.monotonic() + _PEACE_SECONDS
