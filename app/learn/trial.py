"""Try a signal beside all other rules on every log whose cause is known.

A trial loads the whole rulebook with the signal in it, as it would be loaded if it were approved:
what holds for rules that people wrote holds for it, with the same words. The logs are read anew,
since a new pattern may meet lines that no rule looked for.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path

from app.detect.detect import look
from app.errors import RulebookError, SourceError
from app.learn.draft import Draft
from app.learn.labelled import Labelled
from app.pipeline import Case, Limits, compressed
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from app.rulebook.signal import Signal


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that count now: their folders and the rulebook that was made of them."""

    shipped: Path
    learned: Path
    compiled: Compiled

    def with_one(self, draft: Draft) -> Compiled:
        """Load them with one more signal; raise RulebookError with all that is wrong with it."""
        with _beside(self.learned, draft) as folder:
            return Compiled(load(self.shipped, learned=folder))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one labelled log came to; `met` of its `lines` are met by the signal on trial."""

    log: Labelled
    cause: str
    signal: str | None
    met: int
    lines: int

    @property
    def is_right(self) -> bool:
        """Say whether rules alone come to its cause."""
        return self.cause == self.log.cause


@dataclass(frozen=True)
class Trial:
    """A signal, the failures that it is to find, and all other logs whose cause is known."""

    draft: Draft
    confirmed: Sequence[Labelled]
    others: Sequence[Labelled]
    rules: Rules

    @cached_property
    def changed(self) -> Compiled:
        """The rules with the signal; raises RulebookError."""
        return self.rules.with_one(self.draft)

    @cached_property
    def signal(self) -> Signal:
        """The signal, as it was loaded."""
        return self.changed.rulebook.signal_named[self.draft.name]

    @cached_property
    def found(self) -> tuple[Outcome, ...]:
        """What the confirmed failures come to."""
        return tuple(self._outcomes(self.confirmed))

    @cached_property
    def elsewhere(self) -> tuple[Outcome, ...]:
        """What all other logs come to."""
        return tuple(self._outcomes(self.others))

    def sighted(self, text: str) -> bool:
        """Say whether the signal is found in a piece of a log."""
        try:
            log = compressed([BytesIO(text.encode())], self.changed, Limits())
        except SourceError:
            return False
        return any(one.signal == self.draft.name for one in look(log, self.changed).sightings)

    def was_right(self, log: Labelled) -> bool:
        """Say whether the rules of now come to the cause of a log."""
        case = log.case(self.rules.compiled)
        return case is not None and case.diagnosis.verdict.primary.cause == log.cause

    def _outcomes(self, logs: Sequence[Labelled]) -> Iterator[Outcome]:
        for log in logs:
            case = log.case(self.changed)
            if case is not None:
                primary = case.diagnosis.verdict.primary
                met = _met(case, self.draft.name)
                yield Outcome(log, primary.cause, primary.signal, met, case.diagnosis.log.lines)


def consequences(trial: Trial) -> tuple[str, ...]:
    """Name the signals that stand before the one on trial in the failures that it is to find.

    Nothing is named where it cannot be loaded, or is not found: then there is nothing to explain.
    """
    try:
        known = trial.changed.rulebook.signal_named
    except RulebookError:
        return ()
    before = {
        one.signal for one in trial.found if not one.is_right and one.met and one.signal in known
    }
    told = before - {trial.draft.name, *trial.draft.explains, None}
    return tuple(sorted(name for name in told if name))


def _met(case: Case, signal: str) -> int:
    lines = {
        (one.line.file, one.line.number)
        for one in case.sighted.sightings
        if one.signal == signal and one.stands
    }
    return len(lines)


@contextmanager
def _beside(learned: Path, draft: Draft) -> Iterator[Path]:
    """Make a copy of the learned rules with one more among them."""
    with tempfile.TemporaryDirectory(prefix="firstfault-") as made:
        folder = Path(made) / "rules.learned"
        if learned.is_dir():
            shutil.copytree(learned, folder)
        signals = folder / "signals"
        signals.mkdir(parents=True, exist_ok=True)
        (signals / f"{draft.name}.yaml").write_text(draft.text, encoding="utf-8")
        yield folder
