"""Runs the command line as a shell would: a process of its own, its output in bytes of UTF-8."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
STORIES = ROOT / "fixtures"
SHOWCASE = STORIES / "CUDAError" / "timeouts_everywhere_one_illegal_access.log"


@dataclass(frozen=True)
class Told:
    """What a command said, and the status that it left with."""

    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Command:
    """Runs `firstfault` with a cache of compiled rules that all tests share."""

    cache: Path
    rules: Path | None = None
    more: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, *words: str | Path, given: bytes = b"", **more: str) -> Told:
        """Run with the words as arguments, bytes on standard input and settings by name."""
        kept = ("PATH", "HOME", "LANG")
        environment = {name: os.environ[name] for name in kept if name in os.environ}
        environment |= {"FIRSTFAULT_CACHE_DIR": str(self.cache), "PYTHONPATH": str(ROOT)}
        environment |= {"FIRSTFAULT_MEMORY": "no", **more}  # nothing from a service run by hand
        if self.rules:
            environment["FIRSTFAULT_RULES_DIR"] = str(self.rules)
        done = subprocess.run(
            [sys.executable, "-m", "app.cli.main", *map(str, words)],
            input=given,
            capture_output=True,
            env=environment,
            timeout=120,
            check=False,
        )
        return Told(done.returncode, done.stdout.decode(), done.stderr.decode())

    def refused(self, *words: str | Path, given: bytes = b"", **more: str) -> str:
        """Run what must be refused: status 2, nothing on standard output, no traceback."""
        told = self(*words, given=given, **more)
        assert told.status == 2, told
        assert told.out == ""
        assert "Traceback" not in told.err
        assert told.err.startswith("firstfault: ")
        return told.err

    def with_rules(self, rules: Path) -> "Command":
        """Give the same command with another folder of rules, and with a cache beside it."""
        return Command(rules.parent / "cache", rules)
