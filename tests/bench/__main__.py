"""`make bench`: the engine beside its peers on generated logs, in CPU time on one core.

    python -m tests.bench [--size MB] [--repeat N] [--folder DIR]

Peers get the same rules: `rg -a --no-unicode --no-mmap -j1` once with the filters (-v) and
once with the signals, a Python loop with `re`, and Drain3. Ratios above 1 are in our favour.
"""

import argparse
import gzip
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig

from app.compress.scan import Scanner
from app.masking import Masks
from app.rulebook.compiled import TRACE, Compiled
from tests.bench.generate import write
from tests.bench.naive import Exact, Naive
from tests.bench.rules import compiled_rules

VARIANTS = ("normal", "hard", "long")
RG = ("rg", "-a", "--no-unicode", "--no-mmap", "-j1", "--no-config")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=500, help="MB of each log")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the median is taken")
    parser.add_argument("--folder", type=Path, help="keep the logs here")
    args = parser.parse_args()
    compiled = compiled_rules()
    with tempfile.TemporaryDirectory(dir=args.folder) as scratch:
        folder = args.folder or Path(scratch)
        rules = _rg_rules(compiled, Path(scratch))
        for variant in VARIANTS:
            log = folder / f"{variant}-{args.size}.log"
            if not log.exists():
                write(log, variant, args.size << 20)
            _compare(log, variant, rules, compiled, args.repeat)
        _packed(folder / f"normal-{args.size}.log", Path(scratch), args.repeat)


def _compare(
    log: Path, variant: str, rules: tuple[Path, Path], compiled: Compiled, repeat: int
) -> None:
    mb = log.stat().st_size / 1e6
    with log.open("rb") as file:
        sample = file.read(1 << 20).rpartition(b"\n")[0] + b"\n"
    print(f"\n{variant}: {mb:.0f} MB")
    agree = _agreement(sample, compiled)
    print(f"  agrees with the naive reference on {len(sample) / 1e6:.1f} MB: {agree}")
    ours = _median(repeat, lambda: _engine("scan", log))
    print(f"  filters and signals: {mb / ours['cpu']:7.0f} MB/s, {ours['kept']:.0f} lines kept")
    first = _median(repeat, lambda: _rg(log, rules[0], "-v"))
    second = _median(repeat, lambda: _rg(log, rules[1]))
    both = first["cpu"] + second["cpu"]
    print(
        f"  two rg passes:       {mb / both:7.0f} MB/s (filters {mb / first['cpu']:.0f}, "
        f"signals {mb / second['cpu']:.0f})   ratio {both / ours['cpu']:.2f}"
    )
    loop = _loop(sample, compiled)
    print(f"  Python loop with re: {loop:7.2f} MB/s   ratio {mb / ours['cpu'] / loop:.0f}")
    folding = _median(repeat, lambda: _engine("templates", log))
    if folding["kept"] > 1000:
        lines = folding["kept"] / folding["cpu"]
        drain = _drain(log, compiled)
        print(
            f"  templates:           {lines:7.0f} lines/s, Drain3 {drain:.0f}   "
            f"ratio {lines / drain:.1f}"
        )
    print(f"  masking, by line:    {_masking(sample):7.0f} lines/s")
    whole = _median(repeat, lambda: _engine("compress", log))
    two = _median(repeat, lambda: _engine("compress2", log))
    print(
        f"  all of compression:  {mb / whole['cpu']:7.0f} MB/s, peak RSS {whole['rss_mb']:.0f} MB; "
        f"2 threads: {whole['wall'] / two['wall']:.2f}x the speed (wall), "
        f"peak RSS {two['rss_mb']:.0f} MB"
    )
    end = _median(repeat, lambda: _engine("whole", log))
    print(f"  whole diagnosis:     {mb / end['cpu']:7.0f} MB/s, peak RSS {end['rss_mb']:.0f} MB")


def _packed(log: Path, scratch: Path, repeat: int) -> None:
    from backports import zstd

    plain = _median(repeat, lambda: _engine("scan", log))["cpu"]
    data = log.read_bytes()
    print()
    for name, packed in (("gz", gzip.compress(data, 6)), ("zst", zstd.compress(data, 3))):
        path = scratch / f"log.{name}"
        path.write_bytes(packed)
        cpu = _median(repeat, lambda path=path: _engine("scan", path))["cpu"]
        print(f"{name}: {plain / cpu:.2f} of the speed on plain text ({len(packed) / 1e6:.0f} MB)")


def _engine(mode: str, log: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.engine", mode, str(log)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def _rg(log: Path, rules: Path, *flags: str) -> dict[str, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    binary = Path(sys.executable).parent / RG[0]
    command = [str(binary), *RG[1:], "-c", *flags, "-f", str(rules), str(log)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu, "lines": float(done.stdout or 0)}


def _rg_rules(compiled: Compiled, folder: Path) -> tuple[Path, Path]:
    """Write the same rules for rg: filters, and all probes."""
    book = compiled.rulebook
    filters = [
        book.patterns[source].exact
        for rule in book.filters
        if rule.do == "drop"
        for source in rule.match
    ]
    probes = [
        re.sub(r"\(\?P<\w+>", "(?:", book.patterns[probe.source].exact)
        for probe in compiled.probes[len(TRACE) :]
    ]
    paths = folder / "filters.rules", folder / "signals.rules"
    for path, patterns in zip(paths, (filters, [*TRACE, *probes]), strict=True):
        path.write_text("\n".join(patterns) + "\n")
    return paths


def _median(repeat: int, run) -> dict[str, float]:
    runs = [run() for _ in range(repeat)]
    return {key: statistics.median(r[key] for r in runs) for key in runs[0]}


def _agreement(sample: bytes, compiled: Compiled) -> str:
    """Compare kept lines, their offsets and (line, rule) hits byte for byte."""
    naive = Naive(compiled)
    exact = Exact(naive)
    scanned = Scanner(compiled).scan(memoryview(sample))
    lines = sample.splitlines(keepends=True) if b"\r" not in sample else _split(sample)
    candidates: dict[int, set[int]] = {}
    pairs = zip(scanned.hit_lines.tolist(), scanned.hit_probes.tolist(), strict=True)
    for line, probe in pairs:
        candidates.setdefault(line, set()).add(probe)
    kept, offset = [], 0
    wrong = 0
    for index, line in enumerate(lines):
        want = exact.hits(line)
        met = candidates.get(index, set())
        wrong += not want <= met
        if met or not naive.is_dropped(line.rstrip(b"\r\n")):
            kept.append((index, offset))
        offset += len(line)
    ours = [(index, int(scanned.starts[index])) for index in scanned.kept.tolist()]
    return f"kept lines and offsets {kept == ours}, hits missed on {wrong} lines"


def _split(sample: bytes) -> list[bytes]:
    return [line + b"\n" for line in sample.split(b"\n")[:-1]]


def _loop(sample: bytes, compiled: Compiled) -> float:
    """MB/s of CPU of the per-line loop, on a part of the sample."""
    naive = Naive(compiled)
    part = sample[: 256 << 10].rpartition(b"\n")[0] or sample
    started = time.process_time()
    for line in part.split(b"\n"):
        naive.is_dropped(line)
        for _ in naive.hits(line):
            pass
    return len(part) / 1e6 / (time.process_time() - started)


def _masking(sample: bytes) -> float:
    """Lines a second of CPU that are searched for secrets, one by one."""
    lines = sample.decode("utf-8", "replace").split("\n")
    masks = Masks()
    started = time.process_time()
    for line in lines:
        masks.hide(line)
    return len(lines) / (time.process_time() - started)


def _drain(log: Path, compiled: Compiled) -> float:
    """Lines a second of CPU of Drain3 on the lines that are kept."""
    config = TemplateMinerConfig()
    config.profiling_enabled = False
    miner = TemplateMiner(config=config)
    with log.open("rb") as file:
        data = file.read(16 << 20)
    scanned = Scanner(compiled).scan(memoryview(data))
    lines = [
        scanned.line(index).decode("utf-8", "replace").rstrip()
        for index in scanned.kept.tolist()[:20_000]
    ]
    started = time.process_time()
    for line in lines:
        miner.add_log_message(line)
    return len(lines) / (time.process_time() - started)


if __name__ == "__main__":
    os.chdir(Path(__file__).parents[2])
    main()
