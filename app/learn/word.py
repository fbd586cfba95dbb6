"""What a person's word on an answer amounts to."""

from app.errors import NotReady, UsageError
from app.model import Action
from app.rulebook.rulebook import OUTCOMES, Rulebook
from app.rulebook.wording import meant
from app.store.feedback import Given, Said, Word

LONGEST_NOTE = 10_000
_RESTARTING: frozenset[Action] = frozenset(
    {"restart", "cordon_and_restart", "rollback_and_skip", "wait_and_retry", "resubmit"}
)


def weighed(
    diagnosis_id: str,
    verdict: Word,
    cause: str | None,
    by: str,
    note: str,
    said: Said,
    book: Rulebook,
) -> Given:
    """Say which cause is right, and what the answer did wrong; raise UsageError.

    Raises NotReady for a yes to an answer that a model may still change. What the right cause
    advises is that of its file; a signal may have advised otherwise.
    """
    if len(note) > LONGEST_NOTE:
        raise UsageError(f"a note has at most {LONGEST_NOTE} characters, not {len(note)}")
    right = _right(verdict, cause, said, book)
    rule = book.causes.get(right)
    action: Action = rule.recovery.action if rule else "none"
    wrong, cordoned = right != said.cause, said.action == "cordon_and_restart"
    return Given(
        diagnosis_id=diagnosis_id,
        verdict="correct" if wrong else "confirm",
        cause=right,
        by=by,
        note=note,
        said=said,
        false_restart=wrong and said.restart and action not in _RESTARTING,
        false_cordon=wrong and cordoned and action != "cordon_and_restart",
        wants_rule=rule is not None and (wrong or said.method != "rules"),
    )


def _right(verdict: Word, cause: str | None, said: Said, book: Rulebook) -> str:
    if verdict == "confirm":
        if not said.is_final:
            raise NotReady(
                f"{said.cause} is not the last word: a model is being asked; confirm it afterwards"
            )
        if cause not in (None, said.cause):
            raise UsageError(f"the answer is {said.cause}; to say {cause}, correct it")
        return said.cause
    known = sorted({*book.causes, *OUTCOMES})
    if cause is None:
        raise UsageError("say which cause is right")
    if cause not in known:
        raise UsageError(f"{cause} is no cause{meant(cause, known)}")
    return cause
