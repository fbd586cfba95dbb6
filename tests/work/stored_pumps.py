"""A database of diagnoses whose rules have changed since."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from app.incident import Snippet
from app.model import Job
from app.rulebook.load import content_hash
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Place, Request, Upload
from app.store.ids import new_id
from app.store.kept import KeptLogs
from app.store.migrate import migrate
from app.store.outcome import Remembered
from app.store.reclassifications import Reclassifications
from app.store.run import Chosen
from app.store.uploads import Uploads
from app.work.surroundings import Surroundings
from app.work.worker import Order, PipelineReader
from tests.small_rules import write_rules

LEAK = "pump 3 leaks\n"


@dataclass
class Pumps:
    """What processes are told of them, and their ids in order."""

    where: Surroundings
    reader: PipelineReader
    ids: list[str]

    @property
    def runs(self):
        return Reclassifications(connect(self.where.database))

    @property
    def diagnoses(self):
        return Diagnoses(connect(self.where.database))

    def begun(self, *, applies: bool = True):
        return self.runs.begin(Chosen(), applies=applies, rules=self.where.edition)

    def refresh(self) -> None:
        """Take the rules for those of the next run."""
        where = self.where
        self.where = replace(where, edition=content_hash(where.rules, where.learned))

    def add(self, origin: Upload | Place, path: str, *, is_kept: bool = True) -> str:
        """Diagnose a log under the rules of the reader."""
        request = Request(new_id(), Job(), (origin,))
        self.diagnoses.add(request)
        outcome = self.reader.read(Order(request.id, Job(), (path,), 1 << 20, 1000), lambda _: None)
        lines = Remembered(outcome.fingerprint, Snippet((LEAK,)), Job())
        outcome = replace(outcome, remembered=lines, kept=outcome.kept if is_kept else None)
        self.diagnoses.finish(request.id, outcome)
        self.ids.append(request.id)
        return request.id

    def actions(self) -> list[str | None]:
        """What is advised now, in the order of the ids."""
        return [present.action for present in self.diagnoses.present(self.ids)]

    def unjudged(self, run) -> dict[int, str]:
        """Which of them could not be judged, by their place in the order, and why."""
        changes = self.runs.changes(run.id, None, 1000)
        return {self.ids.index(c.subject): c.why for c in changes if c.cause is None}


def stored(folder: Path, logs: Iterable[str], *, is_kept: bool = True) -> Pumps:
    """Store logs that were sent, diagnosed when a leak meant another action."""
    rules = write_rules(folder / "rules")
    where = Surroundings(
        database=f"sqlite:///{folder / 'f.db'}", rules=rules, cache=folder / "cache",
        learned=folder / "learned", edition="1",
        uploads=folder / "uploads", roots=(folder / "logs",), max_log_bytes=1 << 20,
        digest_tokens=1000,
    )  # fmt: skip
    engine = connect(where.database)
    migrate(engine)
    reader = PipelineReader(rules, where.learned, where.cache)
    KeptLogs(engine).know(reader.rules.fingerprint, reader.rules.patterns)
    pumps = Pumps(where, reader, [])
    uploads = Uploads(where.uploads)
    for text in logs:
        sha = uploads.put(text.encode())
        pumps.add(Upload(sha), str(uploads.path(sha)), is_kept=is_kept)
    cause = rules / "causes" / "plant" / "PumpFault.yaml"
    cause.write_text(cause.read_text().replace("cordon_and_restart", "fix_config"))
    pumps.refresh()
    return pumps
