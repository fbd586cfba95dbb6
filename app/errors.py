"""Everything firstfault raises on purpose.

FirstFaultError            500 / exit 1
├── UsageError             400 / exit 2   a request or a command line that cannot be meant
│   └── NoSuchCause        422 / exit 2   a cause that no rule knows and no diagnosis has
├── SourceError            422 / exit 2   a log that cannot be read
│   ├── SourceNotFound     404 / exit 2
│   ├── SourceGone         503 / exit 2   in a store that does not answer, and may do so later
│   ├── SourceTooLarge     413 / exit 2   past a limit on size, plain or decompressed
│   └── OutsideRoots       403 / exit 2   a place that requests may not read
├── RuleError              500 / exit 2   one fault in a rule or prompt file, with its place
├── RulebookError          500 / exit 2   every fault of a folder of these at once
├── Unsigned               401 / exit 2   a webhook without a signature that holds
├── Unauthorized           401 / exit 2   a request without an access token
├── Forbidden              403 / exit 2   a request that its token does not allow
├── TooOften               429 / exit 1   more requests a minute than one caller may make
├── NotFound               404 / exit 2   a diagnosis that does not exist
├── NotReady               409 / exit 2   something asked for before it is there
├── Busy                   429 / exit 1   the queue is full; try again later
├── ModelError             502 / exit 1   a language model gave no answer; the rules' answer stands
├── NotDelivered           502 / exit 1   a listener that did not take its message
└── StoreError             503 / exit 1   the database or the data folder fails
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

ModelFault = Literal[
    "unreachable",  # no connection, or one that broke before an answer began
    "timeout",  # no whole answer in time
    "rate_limited",  # HTTP 429, for longer than we may wait
    "broken",  # HTTP 5xx
    "denied",  # HTTP 401 or 403
    "rejected",  # a request that the endpoint cannot take, such as one for an unknown model
    "too_long",  # the question does not fit the context window
    "cut",  # the answer ends before its end
    "empty",  # an answer without text
    "refused",  # the model declines to answer
    "invalid",  # an answer that does not fit its form, also after the repair
    "budget",  # the tokens or the cost of the diagnosis or the day are spent
    "busy",  # too many calls run at once
]


class FirstFaultError(Exception):
    """The root of the tree; `status` is the HTTP answer, `exit_code` that of the command."""

    status = 500
    exit_code = 1


class UsageError(FirstFaultError):
    """A request or a command line that cannot be meant."""

    status = 400
    exit_code = 2


class NoSuchCause(UsageError):
    """A cause that no rule knows and no diagnosis has."""

    status = 422


class SourceError(FirstFaultError):
    """A log that is there but cannot be read."""

    status = 422
    exit_code = 2


class SourceNotFound(SourceError):
    """No log at the given place."""

    status = 404


class SourceGone(SourceError):
    """A log whose store does not answer, and may do so later."""

    status = 503


class SourceTooLarge(SourceError):
    """A log past a limit on its size, plain or decompressed."""

    status = 413


class OutsideRoots(SourceError):
    """A place that requests may not read."""

    status = 403


class RuleError(FirstFaultError):
    """One fault in one file of rules or one prompt."""

    exit_code = 2

    def __init__(self, path: Path | str, line: int, fault: str) -> None:
        super().__init__(f"{path}:{line}: {fault}")
        self.path = Path(path)
        self.line = line
        self.fault = fault


class RulebookError(FirstFaultError):
    """Every fault that a folder of rules or prompts holds."""

    exit_code = 2

    def __init__(self, faults: Sequence[RuleError]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


class Unsigned(FirstFaultError):
    """A webhook without a signature that holds."""

    status = 401
    exit_code = 2


class Unauthorized(FirstFaultError):
    """A request without an access token."""

    status = 401
    exit_code = 2


class Forbidden(FirstFaultError):
    """A request that its token, or the lack of one, does not allow."""

    status = 403
    exit_code = 2


class TooOften(FirstFaultError):
    """More requests a minute than one caller may make."""

    status = 429

    def __init__(self, detail: str, retry_after: int) -> None:
        super().__init__(detail)
        self.retry_after = retry_after  # seconds


class NotFound(FirstFaultError):
    """Something asked for by its id does not exist."""

    status = 404
    exit_code = 2


class NotReady(FirstFaultError):
    """Something asked for before it is there."""

    status = 409
    exit_code = 2


class Busy(FirstFaultError):
    """The queue is full."""

    status = 429


class ModelError(FirstFaultError):
    """A language model gave no answer that can be used.

    `retryable` says whether the same question may be answered later.
    """

    status = 502

    def __init__(self, fault: ModelFault, told: str) -> None:
        super().__init__(told)
        self.fault = fault

    @property
    def retryable(self) -> bool:
        """Say whether time may heal it."""
        return self.fault in _PASSING


_PASSING: frozenset[ModelFault] = frozenset(
    {"unreachable", "timeout", "rate_limited", "broken", "cut", "empty", "busy"}
)


class StoreError(FirstFaultError):
    """The database or the data folder cannot be used."""

    status = 503


class NotDelivered(FirstFaultError):
    """A listener that did not take its message; `final` where it never will."""

    status = 502

    def __init__(self, detail: str, *, final: bool = False) -> None:
        super().__init__(detail)
        self.final = final
