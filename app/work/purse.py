"""What all processes of a reclassification may spend on a model together."""

import structlog

from app.errors import ModelError, StoreError
from app.store.reclassifications import Reclassifications
from app.store.run import Allowance

log = structlog.get_logger()


class RunPurse:
    """Sets aside what a call may take before it is made, in the row of the run.

    A process that is killed during a call leaves set aside what that may have cost.
    """

    def __init__(self, runs: Reclassifications, allowance: Allowance) -> None:
        self._runs = runs
        self._run = allowance.run
        self._asks = allowance.asks

    def draw(self, tokens: int) -> None:
        """Set aside one call; raise ModelError where that is too much, or the run was stopped."""
        try:
            is_set_aside = self._runs.draw(self._run, self._asks, tokens)
        except StoreError as error:
            told = f"what the run has spent is not known: {error}"
            raise ModelError("budget", told) from error
        if not is_set_aside:
            of = (("calls", self._asks.calls), ("tokens", self._asks.tokens))
            limits = " and ".join(f"{limit} {name}" for name, limit in of if limit)
            told = f"the run may take {limits}" if limits else "the run was stopped"
            raise ModelError("budget", f"{told}; the next question may take {tokens} tokens")

    def give_back(self, tokens: int) -> None:
        """Return what a call did not take."""
        try:
            self._runs.give_back(self._run, tokens)
        except StoreError as error:
            log.warning("a call counts with what it might have taken", detail=str(error))
