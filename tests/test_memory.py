"""Memory stays within its bound whatever a log is made of.

The streams are made up and read by a process of its own, since only a process knows its peak. What
the rules take is among it.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_MB = 300  # of which the rules take 161; most goes to lines that a dozen probes meet at once
STREAMS = [
    *["no_newline:300", "nul:200", "bar:100", "coloured:16", "distinct:16", "hits:16", "dense:8"],
    *["emoji:16", "states:1", "short:2", "blank:4"],
]


def test_any_stream_is_read_in_bounded_memory():
    command = [sys.executable, "-m", "tests.flood", *STREAMS]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [stream["kind"] for stream in told] == [stream.split(":")[0] for stream in STREAMS]
    assert [stream for stream in told if stream["peak_mb"] > MOST_MB] == []
    assert max(stream["held"] for stream in told) < 100_000
    assert max(stream["templates"] for stream in told) <= 5001
