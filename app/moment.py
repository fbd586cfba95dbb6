"""How a moment is written in all that leaves the service."""

from datetime import UTC, datetime


def in_utc(at: float) -> str:
    """Write seconds since the epoch as a date and time in UTC, to the millisecond."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
