"""Logs with their right answers, in either of two forms.

A folder may hold stories, in the form of `fixtures/`; or cases: a folder each, with a `case.yaml`
that names the `primary` cause and, if it likes, what else is `acceptable`, the `action` and the
`acceptable_actions`, and the `files` of the log. Without `files` the log is what lies beside it,
`logs/` if that is there.
"""

from dataclasses import dataclass
from pathlib import Path

import yaml

from app.errors import UsageError
from app.model import Diagnosis
from app.story import read_stories

_FIXES = {"fix_code", "fix_config", "fix_data"}
_NO_FAULT_OF_NODES = _FIXES | {"none", "resubmit"}


@dataclass(frozen=True)
class Label:
    """One log, the causes that are right for it, the likeliest first, and the right actions."""

    name: str
    paths: tuple[Path, ...]
    causes: tuple[str, ...]
    actions: frozenset[str]

    def fits(self, found: Diagnosis) -> bool:
        """Say whether a diagnosis names a right cause."""
        return found.verdict.primary.cause in self.causes

    def harm(self, found: Diagnosis) -> str | None:
        """Say what acting on a diagnosis would damage."""
        cause, plan = found.verdict.primary.cause, found.plan
        if plan.action == "cordon_and_restart" and self._only(_NO_FAULT_OF_NODES):
            return "cordons a healthy node"
        if plan.restart and self._only(_FIXES):
            return "restarts into the same failure"
        ended = "Completed" in self.causes
        if cause not in ("Unknown", *self.causes) and (cause == "Completed" or ended):
            return "mistakes the outcome of the job"
        return None

    def _only(self, actions: set[str]) -> bool:
        return bool(self.actions) and self.actions <= actions


def labels(folder: Path) -> list[Label]:
    """Read what a folder holds; raise UsageError."""
    cases = sorted(folder.rglob("case.yaml"))
    if cases:
        return [_case(folder, path) for path in cases]
    return [
        Label(one.name, (one.log,), (one.right.primary,), frozenset({one.right.action}))
        for one in read_stories(folder)
    ]


def _case(root: Path, path: Path) -> Label:
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(told, dict) or "primary" not in told:
        raise UsageError(f"{path}: `primary` is missing")
    folder = path.parent
    actions = {told.get("action"), *(told.get("acceptable_actions") or ())} - {None}
    return Label(
        name=str(folder.relative_to(root)),
        paths=_log(folder, told.get("files") or ()),
        causes=tuple(dict.fromkeys((told["primary"], *(told.get("acceptable") or ())))),
        actions=frozenset(actions),
    )


def _log(folder: Path, named: tuple[str, ...]) -> tuple[Path, ...]:
    found = tuple(folder / name for name in named)
    if found and all(path.exists() for path in found):
        return found
    if (folder / "logs").is_dir():
        return (folder / "logs",)
    return tuple(path for path in sorted(folder.iterdir()) if path.name.startswith("log."))
