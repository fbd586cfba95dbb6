"""Windows of consecutive lines from a block, for what need not be read everywhere.

Progress (step, loss) is read from metric lines, which make up nearly all of a log. Blocks of
up to `WHOLE` bytes are read entirely, the first `_MOST_WHOLE` of a log; all others in windows whose
number falls as the log goes on: a log of any size costs about ten thousand lines for each tenfold
of its length.
"""

from collections.abc import Iterator

WHOLE = 512 << 10
_MOST_WHOLE = 64  # blocks, as a job has that writes a file a rank
_MOST_LINES = 20_000
_WINDOW = 20
_FIRST_WINDOWS = 200
_FEWEST_WINDOWS = 10


def sampled(lines: int, size: int, blocks_before: int) -> Iterator[int]:
    """Give the indices of lines to read, in order; the last lines are always among them."""
    if size <= WHOLE and lines <= _MOST_LINES and blocks_before < _MOST_WHOLE:
        yield from range(lines)
        return
    windows = max(_FEWEST_WINDOWS, _FIRST_WINDOWS // (1 + blocks_before))
    stride = max(_WINDOW, lines // windows)
    last = max(0, lines - _WINDOW)
    for begin in range(0, last, stride):
        yield from range(begin, min(begin + _WINDOW, last))
    yield from range(last, lines)
