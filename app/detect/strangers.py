"""Leave out what a scheduler tells of other jobs: its log, and the journal of a node, hold many."""

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from app.model import Marked, Sighting

_MOST = 4  # runs that may be in one log; more are those of all that ran on a node
# JobId=51207   StepId=51207.0   JobId=51207_3(51300), a task of an array and its own number
_NAMED = re.compile(r"\b(?:Job|Step)I[dD]=(\d+)(?:_(\d+))?(?:\((\d+)\))?")


def own_jobs(marks: Iterable[Marked]) -> frozenset[str]:
    """Give the numbers by which the scheduler knows this job; none where it seems to be many."""
    found = frozenset(mark.facts["job"] for mark in marks if mark.kind == "job")
    return found if len(found) <= _MOST else frozenset()


def as_told(sighting: Sighting, own: Collection[str]) -> Sighting:
    """Strike what names another job first, where the numbers of this one are known."""
    named = _NAMED.search(sighting.line.raw)
    if not own or named is None or not set(named.groups("")).isdisjoint(own):
        return sighting
    return replace(sighting, strength="context", doubt="hearsay: of another job", stands=False)
