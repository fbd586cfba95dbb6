"""Lines of a block as a column of arrow, which asks RE2 about all of them at once."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


class Column:
    """Lines that stay where they are: a view of a block, and the offsets where they begin."""

    def __init__(self, data: memoryview, starts: npt.NDArray[np.int32]) -> None:
        values = [None, pa.py_buffer(starts), pa.py_buffer(data)]
        self._lines = pa.Array.from_buffers(pa.binary(), len(starts) - 1, values, null_count=0)

    def meets(self, regex: str | None) -> npt.NDArray[np.bool_]:
        """Say which lines a regex meets."""
        if regex is None:
            return np.zeros(len(self._lines), bool)
        bits = np.frombuffer(pc.match_substring_regex(self._lines, regex).buffers()[1], np.uint8)
        return np.unpackbits(bits, count=len(self._lines), bitorder="little").view(np.bool_)
