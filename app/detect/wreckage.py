"""Take for wreckage what fails in a clean-up once a machine was lost or the job was taken off.

A callback that is torn down before it was set up, a handler that closes what is closed: such
exceptions say that somebody cleaned up, and not why. Where the log tells why, that goes before.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.model import Sighting
from app.rulebook.compiled import Compiled

_CLEANS_UP = re.compile(
    r"_*(?:tear_?down|clean_?up|shut_?down|close|finali[sz]e|finish|aexit|exit|del|stop|destroy)_*"
    r"|_*on_(?:exception|abort|exit|shutdown|error|signal)"
    r"|_*\w*(?:signal|sigterm|sigint|sigusr\d)_?handler"
    r"|_*(?:handle|on|catch)_sig\w*|_*at_?exit\w*|_run_finalizers|_run_exitfuncs|_exitfunc"
)
_BUGS = frozenset(
    {
        "AssertionError",
        "AttributeError",
        "IndexError",
        "KeyError",
        "NameError",
        "RuntimeError",
        "TypeError",
        "ValueError",
        "ZeroDivisionError",
    }
)
_OF_A_MACHINE = frozenset(
    {
        "CUDAError",
        "ECCError",
        "HostOutOfMemory",
        "NVLinkError",
        "NetworkError",
        "NodeFailure",
        "Preempted",
        "TimeLimitExceeded",
    }
)


def without_wreckage(sightings: Sequence[Sighting], compiled: Compiled) -> tuple[Sighting, ...]:
    """Make echoes of bugs in clean-ups, where a proof tells what there was to clean up after."""
    named = compiled.rulebook.signal_named
    if not any(s.strength == "proof" and named[s.signal].cause in _OF_A_MACHINE for s in sightings):
        return tuple(sightings)
    return tuple(
        replace(s, strength="echo")
        if s.strength in ("proof", "clue") and named[s.signal].cause in _BUGS and _in_cleanup(s)
        else s
        for s in sightings
    )


def _in_cleanup(sighting: Sighting) -> bool:
    frame = sighting.facts.get("frame", "")
    return _CLEANS_UP.fullmatch(frame.rsplit(":", 1)[-1]) is not None
