"""What a process is told of a language model, and the agent that it makes of it.

Every call is kept in the database, where there is one; a database that fails costs the record of a
call and never the call, unless a day has a limit: then what was spent must be known.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from app.errors import ModelError, StoreError
from app.reason.budget import Limits
from app.reason.call import Call, DaySpending, Recorder, Spending
from app.reason.desk import Endpoint
from app.store.run import Allowance

if TYPE_CHECKING:
    from app.reason.failure_agent import FailureAgent
    from app.work.purse import RunPurse

RECLASSIFYING = "reclassifying"

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Asking:
    """An endpoint, what may be spent there, the folder of prompts and where calls are kept.

    `allowance` is that of a whole reclassification, whose row is in the database.
    """

    endpoint: Endpoint
    limits: Limits
    prompts: Path
    database: str | None = None
    allowance: Allowance | None = None


class Agents:
    """The agents of one process, each made when it is first needed."""

    def __init__(self) -> None:
        self._made: dict[Asking, FailureAgent] = {}

    def of(self, asking: Asking) -> "FailureAgent":
        """Give the agent; raise RulebookError where its prompts cannot be used."""
        if asking not in self._made:
            self._made[asking] = _made(asking)
        return self._made[asking]


def _made(asking: Asking) -> "FailureAgent":
    from app.reason.client import Client
    from app.reason.failure_agent import FailureAgent
    from app.reason.prompt import Prompts

    record, day = books(asking.database)
    if asking.allowance is not None:
        record = _for_a_run(record)
    client = Client(asking.endpoint, record)
    return FailureAgent(client, Prompts(asking.prompts), asking.limits, day, _purse(asking))


def _for_a_run(record: Recorder) -> Recorder:
    """Keep the calls of a reclassification apart from those for answers that are waited for."""

    def keep(call: Call) -> None:
        record(replace(call, purpose=f"{call.purpose}, {RECLASSIFYING}"))

    return keep


def _purse(asking: Asking) -> "RunPurse | None":
    if asking.allowance is None or asking.database is None:
        return None
    from app.store.database import connect
    from app.store.reclassifications import Reclassifications
    from app.work.purse import RunPurse

    return RunPurse(Reclassifications(connect(asking.database)), asking.allowance)


def books(database: str | None) -> tuple[Recorder, DaySpending]:
    """Say where calls are kept and what a day has spent; nowhere and nothing without a database."""
    if database is None:
        return _forget, _nothing
    from app.store.calls import Calls
    from app.store.database import connect

    calls = Calls(connect(database))
    return _recorder(calls.add), _day(calls.spent)


def _recorder(add: Callable[[Call], None]) -> Recorder:
    def record(call: Call) -> None:
        try:
            add(call)
        except StoreError as error:
            log.warning("a call to the model was not kept", detail=str(error))

    return record


def _day(spent: DaySpending) -> DaySpending:
    def known(at: float) -> Spending:
        try:
            return spent(at)
        except StoreError as error:
            told = f"what was spent today is not known, and a day has a limit: {error}"
            raise ModelError("budget", told) from error

    return known


def _forget(_: Call) -> None:
    """Keep nothing: there is no database."""


def _nothing(_: float) -> Spending:
    return Spending()
