"""Find the first date of a log that tells its year, for the stamps that stand before it.

Some loggers leave the year out (`E304 04:22:11`). Read by the year in which the file was written,
those before the first full date would come months or years behind those after it.
"""

from app.read.prefix import PrefixReader
from app.read.terminal import clean

_LOOKED_AT = 64 << 10  # bytes


def first_date(head: memoryview) -> float | None:
    """Give the first complete stamp of a file, seconds since the epoch, from how the file begins.

    None where its first 64 KB hold none.
    """
    read = PrefixReader().read
    lines = bytes(head[:_LOOKED_AT]).decode("utf-8", "replace").split("\n")
    times = (read(piece).time for line in lines for piece in clean(line))
    return next((time for time in times if time is not None), None)
