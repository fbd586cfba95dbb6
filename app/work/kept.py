"""A compressed log as bytes, so that it can be judged again without being read.

Every line that any pattern of the scan met is in it, whatever the filters said. So it holds all
that other rules need as long as they look for no pattern that was not looked for then: rules that
change who explains whom, what to do, or what weakens a signal. For others the log must be read.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache

from backports import zstd
from pydantic import TypeAdapter

from app.model import Compressed, Line
from app.rulebook.compiled import Compiled

MOST_BYTES = 4 << 20  # of one kept log; a larger one is read again
_LEVEL = 6


@cache
def _form() -> TypeAdapter[Compressed]:
    return TypeAdapter(Compressed)


def pack(log: Compressed) -> bytes:
    """Give the bytes of a compressed log; empty where they are too many to be kept."""
    data = zstd.compress(json.dumps(asdict(log)).encode(), _LEVEL)  # JSON as Python has it: NaN
    return data if len(data) <= MOST_BYTES else b""


def unpack(data: bytes, patterns: Sequence[str], compiled: Compiled) -> Compressed | None:
    """Give back the log as other rules see it; None where they look for more than was then.

    `patterns` are those of the scan then, in its order.
    """
    now: dict[str, list[int]] = {}
    for id, probe in enumerate(compiled.probes):
        now.setdefault(probe.source, []).append(id)
    if not now.keys() <= set(patterns):
        return None
    log = _form().validate_python(json.loads(zstd.decompress(data, options=_bounded())))
    met = {then: tuple(now.get(source, ())) for then, source in enumerate(patterns)}
    lines = (_as_met_now(line, met) if line.met else line for line in log.lines)
    return replace(log, lines=tuple(lines))


def _as_met_now(line: Line, met: dict[int, tuple[int, ...]]) -> Line:
    ids = {id for then in line.met for id in met.get(then, ())}
    return replace(line, met=tuple(sorted(ids)))


def _bounded() -> dict[int, int]:
    return {zstd.DecompressionParameter.window_log_max: 27}
