"""Errors of a kind that training survived again and again: one more of them did not end it.

Where code that a model wrote is run and judged, or samples are tried that may be bad, tracebacks
come as a matter of course. The last of them may have few steps behind it when the job is ended.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from app.model import OUTLIVED, Sighting

_OFTEN = 3


def without_routine(
    standing: Sequence[Sighting], survived: Sequence[Sighting]
) -> tuple[Sighting, ...]:
    """Take for clues the exceptions out of a file whose exceptions were survived several times.

    Those count too that were left as clues, since training may have survived them.
    """
    outlived = [*survived, *(s for s in standing if s.doubt == OUTLIVED)]
    often = Counter(map(_raised_in, outlived))
    return tuple(
        replace(s, strength="clue")
        if s.strength == "proof" and "frame" in s.facts and often[_raised_in(s)] >= _OFTEN
        else s
        for s in standing
    )


def _raised_in(sighting: Sighting) -> str | None:
    """Give the path of the frame that raised, None for what left no traceback."""
    frame = sighting.facts.get("frame")
    return frame.rsplit(":", 2)[0] if frame else None
