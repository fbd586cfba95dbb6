"""Load the rule folder: a rulebook, or every fault in it at once, each with its file and line."""

import hashlib
import os
import tempfile
from collections.abc import Sequence
from functools import cache as once
from pathlib import Path

from pydantic import ValidationError

from app.errors import RulebookError, RuleError
from app.rulebook.checks import faults_between
from app.rulebook.form import PROVEN
from app.rulebook.lines import BenignForm, MarkForm
from app.rulebook.pattern import Pattern, parse
from app.rulebook.reading import Reading, RuleFile
from app.rulebook.rulebook import Rulebook

_KEPT_IN_CACHE = 8  # a team that edits rules makes a new file with each change
_PROOF = {
    part: {"__all__": {"hits", "misses", "examples"}}
    for part in ("causes", "signals", "benign", "filters", "marks")
}


def load(folder: Path, cache: Path | None = None, learned: Path | None = None) -> Rulebook:
    """Load and check all rules; `cache` is a folder for what was derived from the same bytes.

    `learned` is a second folder of the same form, which may be missing: rules that were learned
    here. Raises RulebookError with every fault. A cache that cannot be read or written is not
    used. A rulebook from the cache lacks hits, misses and examples, which only prove the rules.
    """
    fingerprint = content_hash(folder, learned)
    kept = cache / f"rulebook-{made_by()}-{fingerprint[7:23]}.json" if cache else None
    if kept:
        try:
            return Rulebook.model_validate_json(kept.read_bytes(), context=PROVEN)
        except (ValidationError, OSError):
            pass
    rulebook = _read(_files(folder, learned), folder, fingerprint)
    if kept:
        write_whole(kept, rulebook.model_dump_json(exclude=_PROOF).encode())
    return rulebook


def _read(files: Sequence[RuleFile], folder: Path, fingerprint: str) -> Rulebook:
    reading = Reading(files)
    faults = [*reading.faults, *faults_between(reading)]
    if not reading.causes and not faults:
        faults.append(RuleError(folder, 1, "no file under causes/"))
    if faults:
        raise RulebookError(sorted(faults, key=lambda fault: (str(fault.path), fault.line)))
    return Rulebook(
        fingerprint=fingerprint,
        domains={name: placed.rule for name, placed in reading.domains.items()},
        causes={name: placed.rule for name, placed in reading.causes.items()},
        signals=tuple(placed.rule for placed in reading.signals.values()),
        benign=tuple(reading.benign),
        filters=tuple(reading.filters),
        marks=tuple(reading.marks),
        patterns=_patterns(reading),
    )


def _patterns(reading: Reading) -> dict[str, Pattern]:
    sources = [source for placed in reading.signals.values() for source in placed.rule.patterns]
    told_of: tuple[BenignForm | MarkForm, ...] = (*reading.benign, *reading.marks)
    for told in told_of:
        sources += [*told.match, *told.unless]
    sources += [source for routine in reading.filters for source in routine.match]
    return {source: parse(source) for source in dict.fromkeys(sources)}


def content_hash(folder: Path, learned: Path | None = None) -> str:
    """Hash the names and bytes of all rule files."""
    digest = hashlib.sha256()
    for file in _files(folder, learned):
        try:
            data = file.path.read_bytes()
        except OSError as error:
            fault = RuleError(file.path, 1, f"cannot be read: {error.strerror}")
            raise RulebookError([fault]) from error
        digest.update(f"{'/'.join(file.parts)}\0{len(data)}\0".encode())
        digest.update(data)
    return f"sha256:{digest.hexdigest()}"


@once
def made_by() -> str:
    """Name the code that derives what is cached, by its bytes: another code, another cache."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def write_whole(path: Path, data: bytes) -> None:
    """Write a cache file so that readers see all of it or none; give up silently if it cannot be.

    A cache that cannot be written costs time, never an answer. Of each kind of file, told by its
    name up to the first hyphen, the last ones are kept.
    """
    part = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            part = file.name
            file.write(data)
        os.replace(part, path)
        kind = path.name.partition("-")[0]
        old = sorted(path.parent.glob(f"{kind}-*"), key=os.path.getmtime, reverse=True)
        for forgotten in old[_KEPT_IN_CACHE:]:
            forgotten.unlink(missing_ok=True)
    except OSError:
        if part and os.path.exists(part):
            os.unlink(part)


def _files(folder: Path, learned: Path | None) -> list[RuleFile]:
    """List the rule files; names that begin with a dot are editors' business."""
    if not folder.is_dir():
        raise RulebookError([RuleError(folder, 1, "no such folder of rules")])
    return [
        RuleFile(path, path.relative_to(root).parts)
        for root in (folder, learned)
        if root
        for path in sorted([*root.rglob("*.yaml"), *root.rglob("*.yml")])
        if not path.name.startswith(".")
    ]
