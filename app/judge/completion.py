"""Decide whether the job finished, where some words say so and others do not."""

import re

from app.judge.primary import Ranking
from app.model import OUTLIVED, Detected, Finding, Job, Line
from app.rulebook.cause import KNOW_NOT_WHY
from app.rulebook.rulebook import Rulebook

_STOPS_A_SAVE = frozenset({"StorageError", "S3StorageError", "HostOutOfMemory"})
_BROKEN = frozenset({"ECCError", "NVLinkError", "NodeFailure"})
# train.py:88:shutdown, torch/distributed/distributed_c10d.py:2146:destroy_process_group
_LEAVES = re.compile(r":(?:_*(?:destroy|shut_?down|close|exit|del|clean_?up|terminate|stop)\w*)$")
_ENDED_WELL = {"COMPLETED", "COMPLETE", "CD", "SUCCEEDED", "SUCCESS", "DONE"}


def is_completed(detected: Detected, ranking: Ranking, rulebook: Rulebook, job: Job) -> bool:
    """Weigh the word that the job finished against what else was found.

    The trainer's word stands unless something beats it, or the scheduler objects and work was under
    way behind it. A wrapper's word, and what merely looks like an end, need a log without faults
    and a scheduler that does not object; the word outweighs what many steps followed. Where only
    the scheduler says so, nothing proven may speak against it.
    """
    roots = [root for root in ranking.roots if root.strength != "echo"]
    if detected.ending.finished == "trainer":
        if detected.ending.onward is not None and scheduler_objects(job):
            return False
        return not any(_beats_the_trainer(root, detected, rulebook) for root in roots)
    if scheduler_objects(job) or detected.ending.failed is not None:
        return False
    if scheduler_agrees(job):
        return not any(root.strength == "proof" for root in roots)
    if detected.ending.finished == "wrapper":
        return all(map(_was_outlived, roots))
    return detected.ending.finished == "hint" and not ranking.roots


def _was_outlived(root: Finding) -> bool:
    """Say whether many steps followed all that was told of it."""
    return all(sighting.doubt == OUTLIVED for sighting in root.sightings)


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
    does what kept it from saving. Anything counts that cut short what was under way behind the
    word. Other machines count before the word, or where a process died of them; what they do else
    is tearing down. A kill that comes before it is why the trainer ended.
    """
    cause = rulebook.causes.get(root.cause)
    end, onward = detected.ending.line, detected.ending.onward
    if cause is None or end is None:
        return False
    if cause.domain == "training":
        return root.cause != "Stalled" and not _is_behind(root.first, end)
    cut_short = onward is not None and _is_behind(root.first, onward)
    if cause.domain == "scheduler":
        return cut_short or _is_behind(end, root.first)
    if root.strength != "proof":
        return False
    own = cause.domain in ("script", "framework") or root.cause in _STOPS_A_SAVE
    died = detected.ending.failed is not None and _ended_a_process(root)
    return own or cut_short or died or _is_behind(end, root.first)


def _ended_a_process(root: Finding) -> bool:
    """Say whether a machine broke, or the program's own code raised what nobody caught.

    A peer that is missed when all leave is neither.
    """
    if root.cause in KNOW_NOT_WHY:
        return False
    return root.cause in _BROKEN or any(
        "frame" in sighting.facts
        and not sighting.survivable
        and not _LEAVES.search(sighting.facts["frame"])
        for sighting in root.sightings
    )


def _is_behind(line: Line, other: Line) -> bool:
    """Say whether a line surely comes later; the scheduler, in no file, speaks last."""
    if line.file < 0 or other.file < 0:
        return line.file < 0 <= other.file
    if line.file == other.file:
        return line.number > other.number
    return line.time is not None and other.time is not None and line.time > other.time
