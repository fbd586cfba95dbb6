"""From a verdict to what to do: the action, whether to restart, steps, ready commands.

The action comes from the rules. It is softened where the grounds are weak: nothing is cordoned
without proof, and nothing restarts by itself while a bug may be the cause.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from app.located import Suspect
from app.model import Action, Finding, Job, Plan, Verdict
from app.recover.advised import action_of
from app.recover.again import RESTARTS, kept_from_restart
from app.recover.commands import commands, is_node
from app.recover.course import Course, accused_by_drivers
from app.recover.grounds import borne
from app.recover.targets import nodes_to_take_out
from app.rulebook.rulebook import Rulebook

_UNKNOWN_HOST = (
    "The log does not name the host to be taken out: find it first (`sacct -j JOB -o nodelist`,"
    " `kubectl get pods -o wide`, `dmesg -T` on each), since a restart may land on it again."
)
_READS_SETTINGS = re.compile(
    r"/(?:arg(?:ument)?s?|arg\w*pars\w*|parser|(?:\w+_)?configs?|config(?:uration|_)\w*|settings?"
    r"|options|hparams?|\w+_args|validat\w+|config/\w+)\.py:\d+:"
    r"|/(?:omegaconf|hydra|pydantic|yaml|jsonargparse|fire|click|tyro)/[\w/]+\.py:\d+:"
    r"|:(?:__post_init__|_?validate\w*|_?check_(?:arg|config|setting)\w*|_?parse_\w*arg\w*)$"
)
_TAKES_OUT = re.compile(r"\bstate=drain\b|\bkubectl (?:cordon|drain)\b")
_WORKED_STEPS = 10  # by then every rank has met every other and each service was called
_HAD_WORKED = "It had worked for {count} steps, so what went away counts before what is set."
_KILLED_AT_WORK = (
    "It had worked for {count} steps when a process was killed from outside: if what follows shows"
    " no want of memory, restart it once by hand."
)
_AGAIN = (
    "The {count} attempts before ended in the same way: find out why before it is started again."
)
_ENOUGH_OF_IT = 2
_FIRST_STEPS = 3
_FULL_AT_ONCE = (
    "It failed within the first steps: one step does not fit, a restart changes nothing."
)
_FULL_LATE = (
    "It ran for a while before: look for the longest batch, an evaluation or save that needs more,"
    " fragmentation, or tensors that are kept from step to step."
)
_NOTHING_SAVED = "The log names no checkpoint: see that there is one before it is submitted again."
_SLOT = re.compile(r"\{(\w+)\}")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+=,][A-Za-z0-9_./:@%+=,-]*")
_LONGEST_FACT = 200


def plan(
    verdict: Verdict,
    root: Finding | None,
    rulebook: Rulebook,
    job: Job,
    course: Course = Course(),  # noqa: B008  # a frozen value
) -> Plan:
    """Choose the action and spell it out."""
    if root is None:
        return _for_outcome(verdict, course)
    cause = rulebook.causes[root.cause]
    signal = rulebook.signal_named.get(root.signal)
    steps = (signal.steps if signal else ()) or cause.recovery.steps
    told = action_of(root, rulebook)
    if told == "fix_code" and not (signal and signal.action) and _raised_over_settings(root):
        told = "fix_config"
    # Other causes are told by the hardware itself, and know best whether it may go on.
    on_wires = root.cause == "NetworkError"
    drivers = accused_by_drivers(course.alike, verdict, rulebook) if on_wires else []
    action, reason = borne(told, root, verdict, course, drivers, rulebook)
    if told == "cordon_and_restart" != action:
        steps = tuple(step for step in steps if not _TAKES_OUT.search(step))
    if action == told == "fix_config" and _had_worked(root, course):
        action = cause.recovery.action
        reason = (*reason, _HAD_WORKED.format(count=course.steps_made))
    targets: tuple[str, ...] = ()
    if action == "cordon_and_restart":
        only = course.repeated_on or drivers
        blames = signal is not None and signal.suspect != "printer" and not drivers
        targets = nodes_to_take_out(root, verdict, job, only, blames_others=blames)
    facts = _facts(root, verdict.suspects)
    why_not = kept_from_restart(action, verdict, root, rulebook, course)
    again, reason = why_not is None, (*reason, why_not) if why_not else reason
    if again and course.same_before >= _ENOUGH_OF_IT:
        again, reason = False, (*reason, _AGAIN.format(count=course.same_before))
    if action == "cordon_and_restart" and not targets:
        again, reason = False, (*reason, _UNKNOWN_HOST)
    return Plan(
        action=action,
        restart=again,
        targets=targets,
        steps=tuple(filled(s, facts) for s in (*reason, *steps, *_seen_in(root, course, action))),
        commands=commands(action, targets, f"{root.cause} {root.signal}", job),
    )


def _raised_over_settings(root: Finding) -> bool:
    """Say whether the code that raised reads or checks settings, so that these are to be mended."""
    return _READS_SETTINGS.search(root.sightings[0].facts.get("frame", "")) is not None


def _had_worked(root: Finding, course: Course) -> bool:
    """Say whether what cannot be reached now was reached for a while."""
    reached = root.cause in ("ConnectionError", "NCCLTimeoutError")
    return reached and course.steps_made >= _WORKED_STEPS


def _seen_in(root: Finding, course: Course, action: Action) -> Iterator[str]:
    """Say what this run shows of use for the steps: how it failed, and what was saved last."""
    if root.cause == "OutOfMemoryError":
        yield _FULL_AT_ONCE if course.steps_made < _FIRST_STEPS else _FULL_LATE
    if action in (*RESTARTS, "resubmit") and course.saved:
        yield f"The last checkpoint that the log names: {course.saved}."
    elif root.cause == "TimeLimitExceeded" and course.steps_made:
        yield _NOTHING_SAVED


def _for_outcome(verdict: Verdict, course: Course) -> Plan:
    if verdict.primary.cause == "Completed":
        return Plan("none", False, steps=("Nothing to do: the job finished.",))
    hosts = [place.host for place in verdict.suspects if place.host and is_node(place.host)]
    where = f"on {hosts[0]}" if hosts else "on each node"
    worked = course.killed and course.steps_made >= _WORKED_STEPS
    return Plan(
        "restart" if worked else "none",
        False,
        steps=(
            "The log does not say what went wrong; do not restart in a loop.",
            *((_KILLED_AT_WORK.format(count=course.steps_made),) if worked else ()),
            "Look at the end of each rank's log, and at what the scheduler knows: `sacct -j JOB"
            " --format=JobID,State,ExitCode,MaxRSS,NodeList` or `kubectl describe pod`.",
            f"Look at the kernel's log {where}: `dmesg -T | grep -i -E 'oom|killed process|xid'`."
            " A process that the OOM killer ends leaves no word of its own.",
            "Give those files to firstfault together with this log.",
        ),
    )


def _facts(root: Finding, suspects: Sequence[Suspect]) -> Mapping[str, str]:
    facts = dict(root.sightings[0].facts)
    if suspects:
        first = suspects[0]
        facts.setdefault("host", first.host or "")
        facts.setdefault("gpu", first.gpu or "")
        facts.setdefault("rank", "" if first.rank is None else str(first.rank))
    return {name: value for name, value in facts.items() if value}


def filled(step: str, facts: Mapping[str, str]) -> str:
    """Fill `{facts}` in; into a command, between backticks, goes nothing that a shell reads."""
    parts = enumerate(step.split("`"))
    return "`".join(_fill(part, facts, in_command=bool(index % 2)) for index, part in parts)


def _fill(text: str, facts: Mapping[str, str], *, in_command: bool) -> str:
    def fact(slot: re.Match[str]) -> str:
        name = slot[1]
        value = _UNSEEN.sub(" ", facts.get(name, ""))[:_LONGEST_FACT].replace("`", "'")
        fits = not in_command or (is_node(value) if name.endswith("host") else _is_plain(value))
        return value if value and fits else f"<{name.replace('_', ' ')}>"

    return _SLOT.sub(fact, text)


def _is_plain(value: str) -> bool:
    return _PLAIN.fullmatch(value) is not None
