"""Times of day, dates and zones as loggers spell them, in seconds."""

from datetime import date
from functools import lru_cache

DAY = 86_400
_EPOCH_DAY = date(1970, 1, 1).toordinal()
MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}
DAY_NAMES = frozenset(MONTHS) | {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}


@lru_cache(maxsize=512)
def first_second(year: int, month: int, day: int) -> int | None:
    """Give the second since the epoch at which a day begins; None where there is no such day."""
    try:
        return (date(year, month, day).toordinal() - _EPOCH_DAY) * DAY
    except ValueError:
        return None


@lru_cache(maxsize=512)
def day_of(text: str) -> int | None:
    """Read `2026-03-04` or `2026-Mar-04`; give the second at which the day begins."""
    year, month, day = text[:4], text[5:-3], text[-2:]
    return first_second(int(year), MONTHS.get(month) or int(month), int(day))


def seconds_of_day(clock: str, part: str | None, half: str | None) -> float | None:
    """Read a time of day, its fraction, and the A or P of AM and PM."""
    whole = _of_day(clock, half)
    return whole + float("." + part) if part and whole is not None else whole


@lru_cache(maxsize=4096)
def _of_day(clock: str, half: str | None) -> int | None:
    hours, minutes, seconds = int(clock[:2]), int(clock[3:5]), int(clock[6:])
    if half is not None:
        hours = hours % 12 + (12 if half == "P" else 0)
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    return hours * 3600 + minutes * 60 + seconds


def offset(zone: str) -> int:
    """Give how many seconds a zone is ahead of UTC."""
    digits = zone.strip().replace(":", "")
    if digits in ("Z", "UTC"):
        return 0
    seconds = int(digits[1:3]) * 3600 + int(digits[3:5]) * 60
    return -seconds if digits[0] == "-" else seconds


def in_order(first: int, mark: str, second: int, third: str) -> tuple[int, int, int]:
    """Say which of the three is year, month and day; slashes are American where both can be."""
    if mark == "-" and len(third) == 2:
        return 2000 + first, second, int(third)
    year = int(third) if len(third) == 4 else 2000 + int(third)
    if mark == "/" and first <= 12:
        return year, first, second
    return year, second, first
