"""Small logs of one folder of tests, as data: what they hold, and the answer about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml

from app.model import Diagnosis, Job
from app.pipeline import diagnose
from app.rulebook.compiled import Compiled

STEPS = "".join(f"step {n} | loss {3.2 - n / 9000:.4f} | lr 3e-4\n" for n in range(4000, 4040))


@dataclass(frozen=True)
class SmallLog:
    """One log, or several files of one job; `wanted` is what the answer must hold.

    `job` is what the scheduler says of it.
    """

    files: Mapping[str, str]
    wanted: Mapping[str, object]
    job: Job = Job()

    def told(self, compiled: Compiled) -> Diagnosis:
        """Give the whole answer."""
        with TemporaryDirectory() as folder:
            for name, text in self.files.items():
                Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
                Path(folder, name).write_text(text)
            return diagnose([Path(folder, name) for name in self.files], compiled, job=self.job)

    def places(self, compiled: Compiled) -> list[Mapping[str, object]]:
        """Give the suspects as mappings, the likeliest first."""
        names = ("host", "rank", "gpu", "nic")
        suspects = self.told(compiled).verdict.suspects
        return [{name: getattr(suspect, name) for name in names} for suspect in suspects]


def each_of(path: Path) -> pytest.MarkDecorator:
    """Run a test for each log of a file; one that is `trained` has forty steps before it."""
    rows = yaml.safe_load(path.read_text())
    return pytest.mark.parametrize(
        "log", [_read(row) for row in rows], ids=[r["name"] for r in rows]
    )


def _read(row: Mapping[str, object]) -> SmallLog:
    text = row["log"]
    files = text if isinstance(text, Mapping) else {"job.log": f"{text}"}
    before = STEPS if row.get("trained") else ""
    wanted = row["wanted"] if isinstance(row.get("wanted"), Mapping) else row
    assert isinstance(wanted, Mapping)
    told = row.get("job", {})
    assert isinstance(told, Mapping)
    return SmallLog({name: before + own for name, own in files.items()}, wanted, Job(**told))
