"""Judge many stored diagnoses again under one changed rule; kill that in the middle and go on.

The command is measured from its start to its end, with all its processes, on each engine: time,
CPU, memory. Then it is killed without warning on the way and resumed. In both cases each verdict
that the changed rule is about must have been replaced exactly once, and no other. The CPU time of
processes that a kill orphans is not counted.
"""

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, insert, select

from app.model import Job
from app.settings import Settings
from app.store.database import connect, transaction
from app.store.diagnoses import Diagnoses, Request, Upload
from app.store.ids import new_id
from app.store.kept import KeptLogs
from app.store.migrate import migrate
from app.store.reclassifications import Reclassifications
from app.store.tables import DiagnosisRow, KeptLogRow, PastVerdictRow
from app.store.uploads import Uploads
from app.work.worker import Order, PipelineReader
from tests.endurance.stream import CAUSES, log_text

ENGINES = ("one", "two", "dask")

_CHANGED = "KeyError"  # the cause whose rule is another one
_LOG_BYTES = 4_000
_VARIANTS = 20  # logs of each cause that are really read; the others are copies of their rows
_MOST = 1_000_000
_SECONDS = 3600.0
_PAGE = os.sysconf("SC_PAGE_SIZE")
_RUN = re.compile(r"--resume (rc_\w+)")


@dataclass(frozen=True)
class Stored:
    """A data folder with diagnoses, their rules, and the ids that the changed rule is about."""

    data: Path
    rules: Path
    affected: frozenset[str]

    def environment(self, **more: str) -> dict[str, str]:
        """Give the settings of a command over it."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("FIRSTFAULT_")}
        return kept | {
            "FIRSTFAULT_DATA_DIR": str(self.data),
            "FIRSTFAULT_CACHE_DIR": str(self.data.parent / "cache"),
            "FIRSTFAULT_RULES_DIR": str(self.rules),
            **more,
        }


def reclassify(count: int, engines: tuple[str, ...], dice: random.Random) -> int:
    """Run the trial and print what came of it; give the number of faults."""
    if not 0 < count <= _MOST:
        raise SystemExit(f"between 1 and {_MOST} diagnoses")
    faults = 0
    with tempfile.TemporaryDirectory(prefix="endurance-") as name:
        folder = Path(name)
        began = time.monotonic()
        stored = _stored(folder / "first", count)
        print(f"{count} diagnoses stored in {time.monotonic() - began:.0f} s", flush=True)
        for engine in engines:
            for kills in (0, 1):
                copy = _copied(stored, folder / f"{engine}{kills}")
                with ExitStack() as opened:
                    settings, pids = opened.enter_context(_engine(engine))
                    faults += _trial(copy, settings, pids, engine, kills, dice)
                shutil.rmtree(copy.data)
    return faults


def _trial(
    stored: Stored, settings: dict[str, str], pids: list[int], engine: str, kills: int,
    dice: random.Random,
) -> int:  # fmt: skip
    environment = stored.environment(**settings)
    clock = _Clock(pids)
    run = None
    with clock:
        for _ in range(kills):
            run = _broken_off(environment, stored, dice)
        words = ["--resume", run] if run else ["--apply"]
        done = _command(environment, *words)
        told, error = done.communicate(timeout=_SECONDS)
        clock.note(done)
    if done.returncode:
        print(error)
        return 1
    lost, twice, wrong = _counted(stored, json.loads(told)["run"])
    print(
        f"{engine:5} {'killed and resumed' if kills else 'undisturbed':18} {clock.told()}; "
        f"{lost} lost, {twice} twice, {wrong} wrong",
        flush=True,
    )
    return lost + twice + wrong


def _command(environment: Mapping[str, str], *words: str) -> subprocess.Popen[str]:
    program = [sys.executable, "-m", "app.cli.main", "reclassify", "--output", "json", *words]
    return subprocess.Popen(
        program, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _broken_off(environment: Mapping[str, str], stored: Stored, dice: random.Random) -> str:
    """Kill a run somewhere between a fifth and four fifths of its way; give its id."""
    process = _command(environment, "--apply")
    assert process.stderr is not None
    found = _RUN.search(process.stderr.readline())
    if found is None:
        raise SystemExit(f"the command did not begin: {process.stderr.read()}")
    runs = Reclassifications(connect(_database(stored.data)))
    share = dice.uniform(0.2, 0.8)
    while (run := runs.find(found[1])).done < share * run.total:
        if process.poll() is not None:
            raise SystemExit("the run ended before it could be killed: take a larger --count")
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    print(f"      killed at {runs.find(found[1]).done} of {run.total}", flush=True)
    return found[1]


def _counted(stored: Stored, run: Mapping[str, object]) -> tuple[int, int, int]:
    """Say how many verdicts of those affected were not replaced, replaced twice, or wrongly so."""
    engine = connect(_database(stored.data))
    replaced = select(PastVerdictRow.diagnosis_id, func.count()).group_by(
        PastVerdictRow.diagnosis_id
    )
    advice = select(DiagnosisRow.id, DiagnosisRow.action)
    with transaction(engine) as connection:
        times = {id: count for id, count in connection.execute(replaced)}
        actions = {id: action for id, action in connection.execute(advice)}
    listed = Reclassifications(engine).changes(str(run["id"]), None, _MOST)
    engine.dispose()
    lost = stored.affected - times.keys()
    twice = [id for id, count in times.items() if count > 1]
    wrong = times.keys() - stored.affected
    wrong |= {id for id, action in actions.items() if (action == "none") != (id in times)}
    wrong |= {change.subject for change in listed} ^ stored.affected
    whole = run["done"] == run["total"] == len(actions) and run["status"] == "complete"
    return len(lost), len(twice), len(wrong) + (not whole)


def _stored(folder: Path, count: int) -> Stored:
    """Fill a data folder with diagnoses of three causes, then change what one of them advises."""
    rules = folder / "rules"
    shutil.copytree(Settings().rules_dir, rules)
    stored = Stored(folder / "data", rules, frozenset())
    engine = connect(_database(stored.data))
    migrate(engine)
    reader = PipelineReader(rules, folder / "learned", folder.parent / "cache")
    KeptLogs(engine).know(reader.rules.fingerprint, reader.rules.patterns)
    ids: dict[str, list[str]] = {cause: [] for cause in CAUSES}
    for number in range(min(count, _VARIANTS * len(CAUSES))):
        cause = list(CAUSES)[number % len(CAUSES)]
        text = f"run {number} of the trial\n{log_text(cause, _LOG_BYTES)}".encode()
        sha = Uploads(stored.data / "uploads").put(text)
        request = Request(new_id(), Job(job_id=str(number), cluster="trial"), (Upload(sha),))
        Diagnoses(engine).add(request)
        path = str(Uploads(stored.data / "uploads").path(sha))
        order = Order(request.id, request.job, (path,), 1 << 30, 6000)
        Diagnoses(engine).finish(request.id, reader.read(order, lambda _: None))
        ids[cause].append(request.id)
    _multiply(engine, ids, count)
    engine.dispose()
    (changed,) = rules.rglob(f"{_CHANGED}.yaml")
    text = re.sub(r"(?m)^  action: \w+", "  action: none", changed.read_text())
    changed.write_text(text)
    return Stored(stored.data, rules, frozenset(ids[_CHANGED]))


def _multiply(engine, ids: dict[str, list[str]], count: int) -> None:
    """Copy rows until there are so many diagnoses, the causes in turns."""
    originals = {cause: list(found) for cause, found in ids.items()}
    with transaction(engine, writes=True) as connection:
        rows = {row.id: row for row in connection.execute(select(DiagnosisRow.__table__))}
        kept = {row.diagnosis_id: row for row in connection.execute(select(KeptLogRow.__table__))}
        for number in range(sum(map(len, ids.values())), count):
            cause = list(CAUSES)[number % len(CAUSES)]
            of, id = originals[cause][number % len(originals[cause])], new_id()
            connection.execute(insert(DiagnosisRow), {**rows[of]._mapping, "id": id})
            connection.execute(insert(KeptLogRow), {**kept[of]._mapping, "diagnosis_id": id})
            ids[cause].append(id)


def _copied(stored: Stored, folder: Path) -> Stored:
    shutil.copytree(stored.data, folder)
    return Stored(folder, stored.rules, stored.affected)


def _database(data: Path) -> str:
    return f"sqlite:///{data / 'firstfault.db'}"


@contextmanager
def _engine(name: str) -> Iterator[tuple[dict[str, str], list[int]]]:
    """Give the settings of an engine, and its processes that are not the command's own."""
    if name != "dask":
        yield {"FIRSTFAULT_WORKERS": {"one": "1", "two": "2"}[name]}, []
        return
    with ExitStack() as opened, tempfile.TemporaryDirectory(prefix="endurance-") as folder:
        file = Path(folder) / "scheduler.json"
        alone = ("--scheduler-file", str(file), "--no-dashboard")
        pids = [opened.enter_context(_dask("scheduler", "--port", "0", *alone))]
        while not file.exists():
            time.sleep(0.1)
        for _ in range(2):
            pids.append(opened.enter_context(_dask("worker", *alone, "--nthreads", "1")))
        address = json.loads(file.read_text())["address"]
        yield {"FIRSTFAULT_WORKERS": "2", "FIRSTFAULT_DASK_SCHEDULER": address}, pids


@contextmanager
def _dask(*words: str) -> Iterator[int]:
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *words],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class _Clock:
    """Wall time, CPU time and the highest sum of memory of a command and what works for it."""

    def __init__(self, others: list[int]) -> None:
        self._others = others
        self._done = threading.Event()
        self._peak = 0
        self.cpu = 0.0

    def __enter__(self) -> None:
        self._wall = time.monotonic()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = -used.ru_utime - used.ru_stime - sum(map(_cpu, _family(self._others)))
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()

    def note(self, process: subprocess.Popen[str]) -> None:
        """Take the figures of a command that has ended."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu += used.ru_utime + used.ru_stime + sum(map(_cpu, _family(self._others)))

    def __exit__(self, *_: object) -> None:
        self._wall = time.monotonic() - self._wall
        self._done.set()
        self._watcher.join()

    def told(self) -> str:
        """Say all three."""
        return f"{self._wall:.1f} s, {self.cpu:.1f} s of CPU, {self._peak >> 20} MB at most"

    def _watch(self) -> None:
        own = os.getpid()
        while not self._done.wait(0.1):
            pids = [*_family([own])[1:], *_family(self._others)]
            self._peak = max(self._peak, sum(map(_memory, dict.fromkeys(pids))))


def _family(pids: list[int]) -> list[int]:
    """Give these processes and all that descend from them."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = list(pids)
    for pid in found:
        found += children.get(pid, [])
    return found


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0
