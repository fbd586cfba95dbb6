"""What a signal must pass before a person is asked to approve it. Each gate gives a reason or None.

A signal that a model wrote is made from one failure, and it will be tried on every log there will
ever be. So it is held to what a signal of a person is held to, and to every log whose cause is
known: it must find what it was written for and change no right answer into a wrong one.
"""

from collections.abc import Callable

from app.errors import RulebookError
from app.learn.trial import Trial
from app.rulebook.pattern import literal_weight, parse
from app.store.proposals import Passed

_FEWEST_LITERALS = 10  # people's rules get by with 4, since people know what else is printed
_FEWEST_WORDS = 4  # literals of a message beside an exception class that many programs raise
_MOST_LINES = 0.001  # of logs with other causes; a routine line is there thousands of times
_FEW_LINES = 3  # in a short log one line is a large share
# Classes that any library raises for any reason: alone they say nothing.
_ANYTHING = frozenset(
    {
        "*", "Exception", "BaseException", "RuntimeError", "ValueError", "TypeError", "KeyError",
        "AttributeError", "AssertionError", "IndexError", "OSError", "IOError", "ImportError",
        "SystemExit", "Error", "NotImplementedError", "LookupError", "StopIteration",
    }
)  # fmt: skip

Gate = Callable[[Trial], str | None]


def loads_beside_all_rules(trial: Trial) -> str | None:
    """Ask for the form of a rule file: linear time, known causes, no circle of explanations."""
    try:
        _ = trial.changed
    except RulebookError as error:
        return "; ".join(fault.fault for fault in error.faults)
    return None


def is_specific(trial: Trial) -> str | None:
    """Refuse patterns with little text, and exceptions that anything may raise."""
    reply = trial.draft.reply
    for source in reply.match:
        held = literal_weight(parse(source))
        if held < _FEWEST_LITERALS:
            return f"`{source}` holds {held} literal characters, fewer than {_FEWEST_LITERALS}"
    said = literal_weight(parse(reply.message)) if reply.message else 0
    broad = sorted(_ANYTHING.intersection(reply.exception))
    if broad and said < _FEWEST_WORDS:
        return f"{broad[0]} is raised for any reason; narrow it by a message"
    return None


def meets_its_hits(trial: Trial) -> str | None:
    """Ask that it finds the lines that it names."""
    for text in trial.draft.reply.hits:
        if not trial.sighted(text):
            return f"it does not find its own hit: {text[:200]}"
    return None


def spares_its_misses(trial: Trial) -> str | None:
    """Ask that it leaves alone the lines that it says it does."""
    for text in trial.draft.reply.misses:
        if trial.sighted(text):
            return f"it finds its own near miss: {text[:200]}"
    return None


def finds_what_was_confirmed(trial: Trial) -> str | None:
    """Ask that rules alone come to the confirmed cause, and by this signal."""
    if not trial.found:
        return "no confirmed log is left to try it on"
    for one in trial.found:
        if not one.is_right:
            return f"{one.log.name} comes to {one.cause} with it, not to {one.log.cause}"
        if not one.met:
            return f"it is not found in {one.log.name}"
    return None


def is_silent_on_healthy_logs(trial: Trial) -> str | None:
    """Refuse what is found in a run that ended well."""
    for one in trial.elsewhere:
        if one.log.cause == "Completed" and one.met:
            return f"it is found in a healthy run: {one.log.name}"
    return None


def is_rare_elsewhere(trial: Trial) -> str | None:
    """Refuse what meets many lines of failures with another cause."""
    strange = [one for one in trial.elsewhere if one.log.cause != trial.draft.cause]
    met, lines = sum(one.met for one in strange), sum(one.lines for one in strange)
    if met > max(_FEW_LINES, _MOST_LINES * lines):
        return f"it meets {met} of {lines} lines of failures with other causes"
    return None


def worsens_no_verdict(trial: Trial) -> str | None:
    """Refuse what turns a right answer into a wrong one."""
    wrong = [one for one in trial.elsewhere if not one.is_right]
    worse = [one for one in wrong if trial.was_right(one.log)]
    if not worse:
        return None
    told = [f"{one.log.name} from {one.log.cause} to {one.cause}" for one in worse[:5]]
    return f"it turns {len(worse)} right verdicts into wrong ones: {', '.join(told)}"


GATES: tuple[Gate, ...] = (
    loads_beside_all_rules,
    is_specific,
    meets_its_hits,
    spares_its_misses,
    finds_what_was_confirmed,
    is_silent_on_healthy_logs,
    is_rare_elsewhere,
    worsens_no_verdict,
)


def passed(trial: Trial) -> tuple[Passed, ...]:
    """Go through the gates up to the first that refuses."""
    told: list[Passed] = []
    for gate in GATES:
        why = gate(trial)
        told.append(Passed(gate.__name__, why))
        if why is not None:
            break
    return tuple(told)
