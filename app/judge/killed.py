"""Say which processes were killed, where nothing in the log says by whom.

SIGKILL leaves no word of its own: the OOM killer, a scheduler, a person and a launcher that tidies
up all look alike to the job. What is left to tell is who died, and where.
"""

from app.judge.printed import ended
from app.located import Suspect
from app.model import Detected


def kills(detected: Detected) -> tuple[str, ...]:
    """Tell of the killed processes in one sentence; nothing where none was."""
    marks = [mark for mark in detected.exits if mark.is_kill]
    places = dict.fromkeys(ended(mark, detected.located) for mark in marks)
    if not places:
        return ()
    first = max(places, key=lambda place: (place.rank is not None) + (place.host is not None))
    others = len(places) - 1
    more = f" and {others} more" if others else ""
    were = "were" if others else "was"
    return (f"{_in_words(first)}{more} {were} killed (SIGKILL), and the log does not say by whom",)


def _in_words(place: Suspect) -> str:
    who = "a process" if place.rank is None else f"rank {place.rank}"
    return f"{who} on {place.host}" if place.host else who
