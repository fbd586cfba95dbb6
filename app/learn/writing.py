"""Write a signal for a cause that people confirmed and rules missed, and try it: one whole run.

It runs in a process of its own: it loads the rules several times and reads every log whose cause
is known, some tens of seconds of work. It changes nothing; what came of it is handed back, and who
entrusted the run keeps it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from app.errors import FirstFaultError, ModelError, StoreError
from app.learn.draft import draft, looks_for
from app.learn.evidence import alike, evidence, near
from app.learn.gates import passed
from app.learn.labelled import Confirmed, Labelled, fixtures
from app.learn.task import Later, Surroundings
from app.learn.trial import Rules, Trial, consequences
from app.pipeline import Case
from app.reason.budget import Budget
from app.reason.client import Client
from app.reason.forms import SignalReply
from app.reason.prompt import Prompts
from app.reason.rule_agent import PROMPT, Missed, write_signals
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from app.store.database import connect
from app.store.diagnoses import Diagnoses
from app.store.feedback import Feedback, Feedbacks
from app.store.kept import KeptLogs
from app.store.proposals import Proposal, Proposals, Shown, Written
from app.store.uploads import Uploads
from app.work.asking import books
from app.work.roots import LogRoots

_MOST_ALIKE = 5  # failures that one signal is written from
_MOST_ROUNDS = 3  # of saying that what else is found is a consequence


def write(feedback_id: int, where: Surroundings) -> Written | Later | str:
    """Write and try a signal for the failure that a person spoke of; else say why there is none.

    Nothing is raised that is not a bug: errors could not cross to the other process.
    """
    try:
        return _write(feedback_id, where)
    except ModelError as error:
        told = f"the model gave no answer ({error.fault}): {error}"
        return Later(told) if error.retryable else told
    except StoreError as error:
        return Later(str(error))
    except FirstFaultError as error:
        return str(error)


def _write(feedback_id: int, where: Surroundings) -> Written | str:
    desk = _Desk(where)
    word = desk.feedbacks.find(feedback_id)
    if word is None:
        return "the word of the person is gone"
    labelled = (*fixtures(where.fixtures), *desk.confirmed.all())
    mine = next((log for log in labelled if log.diagnosis_id == word.diagnosis_id), None)
    case = mine.case(desk.rules.compiled) if mine else None
    if mine is None or case is None:
        return "nothing is left of the log"
    if mine.cause != word.cause:
        return "a later word names another cause"
    if case.diagnosis.verdict.primary.cause == word.cause:
        return "rules find the cause by now"
    waiting = desk.waiting(word.cause)
    for one in waiting:
        if any(shown.diagnosis_id == word.diagnosis_id for shown in one.written.evidence):
            return f"{one.id} was written for it and waits for a decision"
    same = desk.alike(mine, case, labelled)
    if len(same) < where.needed:
        return f"{len(same)} of {where.needed} failures that are alike were confirmed so far"
    return desk.written(word, same, labelled, waiting)


@dataclass(frozen=True, slots=True)
class _Missed:
    """A confirmed failure that rules miss, as they judge it."""

    log: Labelled
    case: Case


class _Desk:
    def __init__(self, where: Surroundings) -> None:
        engine = connect(where.database)
        self._where = where
        self._diagnoses = Diagnoses(engine)
        self._proposals = Proposals(engine)
        self.feedbacks = Feedbacks(engine)
        compiled = Compiled(load(where.rules, where.cache, where.learned), where.cache)
        self.rules = Rules(where.rules, where.learned, compiled)
        self.confirmed = Confirmed(
            self.feedbacks,
            self._diagnoses,
            KeptLogs(engine),
            Uploads(where.uploads),
            LogRoots(where.roots),
        )

    def alike(self, mine: Labelled, case: Case, labelled: Sequence[Labelled]) -> list[_Missed]:
        """Give the failure with others of its cause that rules miss and that complain alike."""
        found = [_Missed(mine, case)]
        for log in labelled:
            if log.diagnosis_id is None or log.cause != mine.cause or log == mine:
                continue
            other = log.case(self.rules.compiled) if len(found) < _MOST_ALIKE else None
            if other and other.diagnosis.verdict.primary.cause != log.cause and alike(case, other):
                found.append(_Missed(log, other))
        return found

    def waiting(self, cause: str) -> list[Proposal]:
        """Give the proposals for a cause that nobody has decided on."""
        return self._proposals.decided(cause, "proposed")

    def written(
        self,
        word: Feedback,
        same: Sequence[_Missed],
        labelled: Sequence[Labelled],
        waiting: Sequence[Proposal],
    ) -> Written | str:
        """Ask for signals and try them; the first that passes, else the one that came furthest.

        What is proposed already is not tried again.
        """
        shown = tuple(
            Shown(one.log.diagnosis_id or "", evidence(one.case, self._quoted(one.log), word.note))
            for one in same
        )
        replies, version = self._asked(word, shown, labelled)
        failures = [one.log for one in same]
        others = [log for log in labelled if log not in failures]
        proposed = {looks_for(one.written.text): one.id for one in waiting}
        known = [proposed.get(looks_for(draft(word.cause, reply, ()).text)) for reply in replies]
        tried: list[Written] = []
        for reply in (reply for reply, id in zip(replies, known, strict=True) if id is None):
            trial = self._trial(word.cause, reply, failures, others)
            tried.append(self._told(trial, shown, version))
            if tried[-1].passes:
                break
        if not tried:
            return f"{known[0]} looks for the same and waits for a decision"
        return max(tried, key=lambda one: (one.passes, len(one.gates)))

    def _asked(
        self, word: Feedback, shown: Sequence[Shown], labelled: Sequence[Labelled]
    ) -> tuple[Sequence[SignalReply], int]:
        """Ask the model; give its signals and the version of the prompt. Raises ModelError."""
        asking = self._where.asking
        cause = self.rules.compiled.rulebook.causes[word.cause]
        lines = [line for one in shown for line in one.lines]
        healthy = [log for log in labelled if log.cause == "Completed"]
        meaning = f"{cause.title}. {cause.summary.strip()}"
        prompt = Prompts(asking.prompts)[PROMPT]
        record, day = books(asking.database)
        client = Client(asking.endpoint, record)
        budget = Budget(asking.limits, day, diagnosis_id=word.diagnosis_id)
        try:
            told = Missed(word.cause, meaning, lines, near(lines, healthy))
            return write_signals(told, client, prompt, budget), prompt.form.version
        finally:
            client.close()

    def _trial(
        self,
        cause: str,
        reply: SignalReply,
        failures: Sequence[Labelled],
        others: Sequence[Labelled],
    ) -> Trial:
        """Begin a trial; what else the failures hold is said to be a consequence where it is."""
        taken = self.rules.compiled.rulebook.signal_named
        one = draft(cause, reply, taken)
        trial = Trial(one, failures, others, self.rules)
        for _ in range(_MOST_ROUNDS):
            besides = consequences(trial)
            if not besides:
                break
            one = one.explaining(*besides)
            trial = Trial(one, failures, others, self.rules)
        return trial

    def _told(self, trial: Trial, shown: tuple[Shown, ...], version: int) -> Written:
        return Written(
            name=trial.draft.name,
            cause=trial.draft.cause,
            text=trial.draft.text,
            model=self._where.asking.endpoint.model,
            prompt_version=version,
            evidence=shown,
            gates=passed(trial),
            rules=self.rules.compiled.rulebook.fingerprint,
        )

    def _quoted(self, log: Labelled) -> tuple[str, ...]:
        """The lines that a model quoted for the confirmed cause when it was asked for one."""
        answer = self._diagnoses.find(log.diagnosis_id or "").answer
        opinion = json.loads(answer).get("opinion") if answer else None
        if not opinion or opinion.get("cause") != log.cause:
            return ()
        return tuple(quote["text"] for quote in opinion["quotes"])
