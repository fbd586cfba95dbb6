"""The engine on one file, in a process of its own: `python -m tests.bench.engine MODE FILE`.

Prints CPU seconds (user and system, without imports and rule loading), wall seconds and peak RSS.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from app.compress.log import LineReading, compress
from app.compress.scan import Scanner
from app.compress.template import Templates
from app.pipeline import Limits, diagnose
from app.read.blocks import Buffers, blocks
from app.read.prefix import PrefixReader
from app.read.source import sources
from app.read.terminal import clean
from tests.bench.rules import compiled_rules

_LIMIT = 1 << 40


def _blocks(path: Path, threads: int):
    (source,) = sources([path])
    return blocks(0, source, Buffers(threads + 2), _LIMIT)


def scan(path: Path) -> dict[str, float]:
    """Filters and signals on all lines, one thread."""
    scanner = Scanner(compiled_rules())
    scanner.scan(memoryview(b"warm\n"))
    kept = hits = lines = 0

    def run() -> None:
        nonlocal kept, hits, lines
        for block in _blocks(path, 1):
            scanned = scanner.scan(block.data)
            kept += len(scanned.kept)
            hits += len(scanned.hit_lines)
            lines += scanned.lines
            block.release()

    return _measure(run) | {"kept": kept, "hits": hits, "lines": lines}


def templates(path: Path) -> dict[str, float]:
    """Folding of the kept lines alone."""
    scanner = Scanner(compiled_rules())
    found = Templates()
    seconds, number = 0.0, 1
    kept = 0
    for block in _blocks(path, 1):
        scanned = scanner.scan(block.data)
        started = time.process_time()
        found.add(0, number, scanned)
        seconds += time.process_time() - started
        number += scanned.lines
        kept += len(scanned.kept)
        block.release()
    return {"cpu": seconds, "kept": kept, "templates": len(found.templates())}


def compressing(path: Path, threads: int) -> dict[str, float]:
    """The whole of compression: scan, sieve, templates, series."""
    compiled = compiled_rules()
    reading = LineReading(clean, lambda _: PrefixReader(2026).read)

    def run() -> None:
        compress((path.name,), _blocks(path, threads), compiled, reading, threads=threads)

    return _measure(run)


def whole(path: Path) -> dict[str, float]:
    """A diagnosis from end to end."""
    compiled = compiled_rules()
    found = []
    figures = _measure(lambda: found.append(diagnose([path], compiled, limits=Limits())))
    print(found[0].verdict.primary.cause, file=sys.stderr)
    return figures


def _measure(run: Callable[[], None]) -> dict[str, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    run()
    return {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "rss_mb": _peak_kb() / 1024,
    }


def _peak_kb() -> int:
    """The kernel's high-water mark; that of getrusage is inherited from the parent process."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


MODES = {
    "scan": scan,
    "templates": templates,
    "compress": lambda path: compressing(path, 1),
    "compress2": lambda path: compressing(path, 2),
    "whole": whole,
}

if __name__ == "__main__":
    pa.set_cpu_count(1)
    print(json.dumps(MODES[sys.argv[1]](Path(sys.argv[2]))))
