"""Put the learned rules that people approved into their folder, as far as they can be loaded.

The truth is in the database; the folder is what the loader reads, and every process that has one
writes it anew from there. A rule that was sound when it was approved may not be so beside the
rules of a later release: it is left out and told of, since no learned rule may keep the shipped
ones from being loaded.
"""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import RulebookError, StoreError
from app.rulebook.load import load

if TYPE_CHECKING:
    from app.rulebook.compiled import Compiled


@dataclass(frozen=True, slots=True)
class Shelf:
    """What lies in the folder: the version of all rules with it, and what had to be left out.

    `patterns` are all that the scan looks for, in their order.
    """

    rules: str
    patterns: tuple[str, ...]
    unfit: Mapping[str, str] = field(default_factory=dict)


def fill(shipped: Path, learned: Path, approved: Mapping[str, str], cache: Path) -> Shelf:
    """Write the approved rules, by name, into their folder; take all else out of it.

    Raises RulebookError where the shipped rules have a fault, StoreError where nothing can be
    written. A reader sees each file whole.
    """
    fit, unfit, compiled = _fitting(shipped, approved, cache)
    try:
        _write(learned, fit)
    except OSError as error:
        raise StoreError(f"the folder of learned rules cannot be written: {error}") from error
    patterns = tuple(probe.source for probe in compiled.probes)
    return Shelf(compiled.rulebook.fingerprint, patterns, unfit)


def unfitness(shipped: Path, rules: Mapping[str, str], cache: Path) -> Mapping[str, str]:
    """Say which of these rules cannot be loaded beside the shipped ones and each other, and why."""
    return _fitting(shipped, rules, cache)[1]


def _fitting(
    shipped: Path, rules: Mapping[str, str], cache: Path
) -> tuple[dict[str, str], dict[str, str], "Compiled"]:
    from app.rulebook.compiled import Compiled  # not before there is anything to fill

    fit, unfit = dict(rules), dict[str, str]()
    while True:
        with tempfile.TemporaryDirectory(prefix="firstfault-") as made:
            folder = Path(made)
            _write(folder, fit)
            try:
                compiled = Compiled(load(shipped, cache, folder), cache)
            except RulebookError as error:
                faulty = {f.path.stem: f.fault for f in error.faults if folder in f.path.parents}
                if not faulty:
                    raise
                unfit |= faulty
                fit = {name: text for name, text in fit.items() if name not in faulty}
                continue
        _ = compiled.database  # into the cache, so that workers find it there
        return fit, unfit, compiled


def _write(folder: Path, rules: Mapping[str, str]) -> None:
    signals = folder / "signals"
    signals.mkdir(parents=True, exist_ok=True)
    for name, text in rules.items():
        path = signals / f"{name}.yaml"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            part = signals / f".{name}.{os.getpid()}"
            part.write_text(text, encoding="utf-8")
            part.replace(path)
    for path in signals.glob("*.yaml"):
        if path.stem not in rules:
            path.unlink(missing_ok=True)
