"""Failures in the background that training outlived, and by which it was ended after all.

A checkpoint is uploaded by a thread. When that dies, steps go on until the next save, which refuses
to go on and tells no more than that something failed before.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.model import Sighting

# previous checkpoint upload (step 4000) failed   Upload worker crashed   async save has failed
_REFERS = re.compile(
    r"(?i)\b(?:previous|prior|earlier|pending|background|async\w*|upload\w*|writer)\b[\w\s,()#:'-]{0,60}"
    r"\b(?:fail(?:ed|ure)|crashed|died|errored|raised|(?:is|was) dead)\b"
)
_STORED = re.compile(
    r"(?i)\b(?:uploads?|uploader|uploading|saves?|saving|checkpoints?|writ(?:es?|er|ing)|transfers?)\b"
)


def with_recalled(
    standing: Sequence[Sighting], survived: Sequence[Sighting]
) -> tuple[tuple[Sighting, ...], tuple[Sighting, ...]]:
    """Bring back the exceptions of threads, where a later one says that an earlier save failed.

    That bears them out, whatever their words weakened. Returned is what stands now, and what is
    survived still.
    """
    last = max(_that_refer(standing), key=_place, default=None)
    if last is None:
        return tuple(standing), tuple(survived)
    own = (s for s in survived if s.strength in ("proof", "clue") and "frame" in s.facts)
    back = [s for s in own if s.line.file == last.line.file and _place(s) < _place(last)]
    borne_out = (replace(sighting, strength="proof") for sighting in back)
    return (*standing, *borne_out), tuple(s for s in survived if s not in back)


def _that_refer(standing: Sequence[Sighting]) -> Iterator[Sighting]:
    for sighting in standing:
        told = sighting.facts.get("message", "")
        if sighting.strength == "proof" and _REFERS.search(told) and _STORED.search(told):
            yield sighting


def _place(sighting: Sighting) -> tuple[int, int]:
    return sighting.line.file, sighting.line.number
