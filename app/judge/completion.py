"""Decide whether the job finished, where some words say so and others do not."""

from app.model import Detected, Finding, Job, Line, Ranking
from app.rulebook.rulebook import Rulebook

_STOPS_A_SAVE = frozenset({"StorageError", "S3StorageError", "HostOutOfMemory"})
_ENDED_WELL = {"COMPLETED", "COMPLETE", "CD", "SUCCEEDED", "SUCCESS", "DONE"}


def is_completed(detected: Detected, ranking: Ranking, rulebook: Rulebook, job: Job) -> bool:
    """Weigh the word that the job finished against what else was found.

    The trainer's word stands unless something beats it. A wrapper's word, and what merely looks
    like an end, need a log without faults and a scheduler that does not object. Where only the
    scheduler says so, nothing proven may speak against it.
    """
    roots = [root for root in ranking.roots if root.strength != "echo"]
    if detected.ending.finished == "trainer":
        return not any(_beats_the_trainer(root, detected, rulebook) for root in roots)
    if scheduler_objects(job) or detected.ending.failed is not None:
        return False
    if scheduler_agrees(job):
        return not any(root.strength == "proof" for root in roots)
    if detected.ending.finished == "wrapper":
        return not roots
    return detected.ending.finished == "hint" and not ranking.roots


def scheduler_agrees(job: Job) -> bool:
    """Say whether the scheduler reports that the job ended well."""
    if job.state is not None:
        return job.state.strip().upper() in _ENDED_WELL
    return job.exit_code == 0


def scheduler_objects(job: Job) -> bool:
    """Say whether the scheduler reports that the job did not end well."""
    if job.exit_code not in (None, 0) or job.signal:
        return True
    return job.state is not None and not scheduler_agrees(job)


def _beats_the_trainer(root: Finding, detected: Detected, rulebook: Rulebook) -> bool:
    """Say what stands against the trainer's last word: a loss gone wrong, and proof of failure.

    An error of the program counts wherever it stands: the job was to evaluate or save yet, and so
    does what kept it from saving. Other machines count only before the word; what they do after it
    is tearing down. A kill that comes before it is why the trainer ended.
    """
    cause = rulebook.causes.get(root.cause)
    end = detected.ending.line
    if cause is None or end is None:
        return False
    if cause.domain == "training":
        return root.cause != "Stalled"
    if cause.domain == "scheduler":
        return _came_before(root.first, end)
    if root.strength != "proof":
        return False
    own = cause.domain in ("script", "framework") or root.cause in _STOPS_A_SAVE
    return own or _came_before(root.first, end)


def _came_before(line: Line, end: Line) -> bool:
    if line.file == end.file:
        return line.number < end.number
    return line.time is not None and end.time is not None and line.time < end.time
