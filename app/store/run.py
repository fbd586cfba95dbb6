"""A run that judges again: what it is about, how far it is, what each chunk of it came to."""

from dataclasses import asdict, dataclass
from typing import Literal

from app.store.ids import is_id
from app.store.outcome import Outcome

Driver = Literal["service", "command"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which diagnoses a run is about; None lets all through. Times are seconds since the epoch.

    With `logs` it is about these instead: folders that hold one job in each entry, or places in an
    object store, none of which was ever stored; `within_roots` where they must be below a log root,
    whoever goes on with the run.
    """

    cause: str | None = None
    cluster: str | None = None
    job_id: str | None = None
    since: float | None = None
    until: float | None = None
    logs: tuple[str, ...] = ()
    within_roots: bool = False


@dataclass(frozen=True, slots=True)
class Asks:
    """The model that is asked where rules are in doubt, and the folder of prompts.

    `edition` is the fingerprint of the prompts. `calls` and `tokens` are what the whole run may
    take; 0 is any number.
    """

    model: str
    prompts: str
    edition: str
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Allowance:
    """The run that a question to a model is for, and what the run may take."""

    run: str
    asks: Asks


@dataclass(frozen=True, slots=True)
class Run:
    """One reclassification; `status` is running, complete, cancelled or failed.

    `from_kept` were judged from what was kept, `from_logs` from their logs, `unread` could not be.
    Rules left `asked` in doubt; of these a model gave `unheard` no answer, for the reason in
    `note`. `calls` and `tokens` is what it took. Only its `driver` goes on with a run by itself,
    which is the command once it has resumed it.
    """

    id: str
    created_at: float
    finished_at: float | None
    status: str
    applies: bool
    chosen: Chosen
    driver: Driver
    rules: str | None
    asks: Asks | None
    total: int
    done: int
    from_kept: int
    from_logs: int
    unread: int
    asked: int
    unheard: int
    calls: int
    tokens: int
    last: str | None
    note: str | None
    fault: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """A verdict that came out otherwise; of a log that was never stored, the verdict.

    `subject` is the id of the diagnosis, or the log. Where `cause` is None it could not be judged,
    for the reason in `why`, and what was there stays. `by_model` where a model made the difference
    to what rules say today.
    """

    subject: str
    cause_before: str | None = None
    cause: str | None = None
    domain: str | None = None
    action_before: str | None = None
    action: str | None = None
    by_model: bool = False
    why: str = ""

    def spelt(self) -> dict[str, object]:
        """Give it as JSON, the subject as `diagnosis_id` or as `log`."""
        told = asdict(self)
        subject = told.pop("subject")
        is_stored = is_id(subject)
        named = {"diagnosis_id": subject, "log": None} if is_stored else {"log": subject}
        return {"diagnosis_id": None, **named, **told}


@dataclass(frozen=True, slots=True)
class Listed:
    """How many changes there are of a run: other verdicts, and logs that could not be judged."""

    changed: int
    unjudged: int


@dataclass(frozen=True, slots=True)
class Instead:
    """An answer that may take the place of the one of a revision."""

    revision: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Chunk:
    """What judging some again has come to; `instead` belongs to the changes of stored verdicts.

    `unjudged` are those of which it is to be told why they have no verdict.
    """

    last: str
    from_kept: int
    from_logs: int
    unread: int
    asked: int
    unheard: int
    note: str | None
    changes: tuple[Change, ...]
    instead: tuple[Instead, ...]
    unjudged: tuple[Change, ...] = ()

    @property
    def count(self) -> int:
        """How many it was about."""
        return self.from_kept + self.from_logs + self.unread
