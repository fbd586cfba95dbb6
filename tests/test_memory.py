"""Memory stays within its bound whatever a log is made of.

Each stream is made up and read by a process of its own, since only its peak tells. What the rules
take is among it; they come from a cache, as they do in service.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_MB = 200


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    peak_of("nul", 1, folder)
    return folder


def peak_of(kind, megabytes, cache, threads=1):
    command = [sys.executable, "-m", "tests.flood", kind, str(megabytes), str(cache), str(threads)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)


@pytest.mark.parametrize(
    ("kind", "megabytes"),
    [
        ("no_newline", 300),
        ("nul", 300),
        ("bar", 150),
        ("bad_bytes", 100),
        ("distinct", 64),
        ("hits", 64),
        ("dense", 24),
        ("emoji", 32),
        ("frames", 32),
        ("coloured", 24),
        ("states", 10),
        ("blank", 10),
        ("short", 10),
    ],
)
def test_any_stream_is_read_within_200_mb(kind, megabytes, cache):
    told = peak_of(kind, megabytes, cache)
    assert told["peak_mb"] < MOST_MB
    assert told["held"] < 100_000
    assert told["templates"] <= 5001
