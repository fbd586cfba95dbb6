"""Which processes failed by themselves, were killed, or were merely stopped with the others."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace

from app.judge.printed import ended
from app.located import Suspect
from app.model import Detected, Marked

_STOPPED = ("-15", "143", "-2", "130", "15", "SIGTERM", "Terminated")
_BY_ABORT = ("-6", "134", "6", "SIGABRT", "Aborted")
_KILLED = ("9", "SIGKILL", "Killed", "-9", "137", "11", "SIGSEGV", "-11", "139", "7", "-7", "135")


def first_exit(
    detected: Detected, but: Iterable[int | None] = (), near: Container[int] = ()
) -> Iterator[Suspect]:
    """The first process that failed; those that a launcher then stopped (SIGTERM) come after.

    Where each node has a log of its own, those `near` the evidence, in the same file, go before.
    """
    marks = [mark for mark in detected.exits if mark.facts.get("code") not in ("0", "-0")]
    marks.sort(
        key=lambda mark: (
            mark.line.file not in near,
            _was_stopped(mark),
            _aborted(mark),
            "order" not in mark.facts,
        )
    )
    for mark in marks:
        place = ended(mark, detected.located)
        if place != Suspect() and place.rank not in but:
            yield replace(place, why="the first process that failed")
            return


def failed(detected: Detected) -> Iterator[Suspect]:
    """All processes that failed by themselves."""
    for mark in detected.exits:
        if mark.facts.get("code") not in ("0", "-0") and not _was_stopped(mark):
            yield replace(ended(mark, detected.located), why="the only process that failed")


def killed(detected: Detected) -> Iterator[Suspect]:
    """The first two that were killed: who waits aborts itself, and waits for those."""
    marks = [mark for mark in detected.exits if _codes(mark) & {*_KILLED}]
    places = (replace(ended(mark, detected.located), why="was killed") for mark in marks[:2])
    yield from (place for place in places if place.rank is not None or place.host)


def _was_stopped(mark: Marked) -> bool:
    return bool(_codes(mark) & {*_STOPPED})


def _aborted(mark: Marked) -> bool:
    """Say whether a process ended itself, as those do that waited in vain."""
    return bool(_codes(mark) & {*_BY_ABORT})


def _codes(mark: Marked) -> set[str | None]:
    return {mark.facts.get("code"), mark.facts.get("signal")}
