"""What runs in a worker process: one rulebook, loaded once, and one log at a time.

Nothing but plain values crosses to the web process, faults included: an exception that cannot be
rebuilt on the other side would take the pool down with it. Heavy modules are imported here late,
since the web process imports this module too and needs none of them.
"""

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from ctypes import c_double
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from app.errors import FirstFaultError
from app.judge.in_doubt import in_doubt
from app.model import Diagnosis, Job
from app.store.outcome import Fault, Outcome
from app.work import journal
from app.work.asking import Agents, Asking
from app.work.objects import ObjectStore, copies
from app.work.outcomes import fault_of, outcome_of
from app.work.recall import Recall
from app.written import JobType

if TYPE_CHECKING:
    from app.pipeline import Case

_NICENESS = 10  # the web process answers first when the machine is full
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
_USUAL_RATIO = 10  # of a log to its gzip or zstd form


@dataclass(frozen=True, slots=True)
class Order:
    """One log to be read: what a worker is told."""

    id: str
    job: Job
    paths: tuple[str, ...]
    max_log_bytes: int
    digest_tokens: int
    memory: Recall | None = None
    types: tuple[JobType, ...] = ()
    refines: bool = False
    asking: Asking | None = None
    store: ObjectStore | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """How an order went, and the CPU time that it took."""

    result: Outcome | Fault
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Rules:
    """Which rules a worker has loaded, and all patterns that they look for, in their order."""

    fingerprint: str
    patterns: tuple[str, ...] = ()


class Reader(Protocol):
    """What turns an order into an outcome; made once in each worker."""

    rules: Rules

    def read(self, order: Order, progress: Callable[[float], None]) -> Outcome:
        """Diagnose the log of the order."""


# from the folder of rules, that of learned rules, and one for caches
Prepare = Callable[[Path, Path, Path], Reader]


class PipelineReader:
    """The reader of the product: the rulebook and the pipeline."""

    def __init__(self, rules: Path, learned: Path, cache: Path) -> None:
        from app import pipeline  # noqa: F401  pay for the heavy imports before the first log
        from app.rulebook.compiled import Compiled
        from app.rulebook.load import load

        self._compiled = Compiled(load(rules, cache, learned), cache)
        self.rules = Rules(
            self._compiled.rulebook.fingerprint,
            tuple(probe.source for probe in self._compiled.probes),
        )
        self._agents = Agents()
        _ = self._compiled.database  # compiled or read from the cache now, not at the first log

    def read(self, order: Order, progress: Callable[[float], None]) -> Outcome:
        """Run the pipeline."""
        from app.pipeline import Limits, examine
        from app.work.kept import pack
        from app.work.typed import Typed

        paths = [Path(path) for path in order.paths]
        expected = expected_text_bytes(paths)
        typed = Typed(
            paths, expected, order.job.job_type, order.types, self._compiled, order.digest_tokens
        )
        case = examine(
            paths,
            typed.compiled,
            job=order.job,
            memory=order.memory,
            limits=Limits(max_bytes=order.max_log_bytes, digest_tokens=order.digest_tokens),
            progress=lambda done: progress(done / expected),
        )
        if order.asking is not None:
            began = time.perf_counter()
            consulted = self._consulted(case, order, order.asking)
            seconds = {**case.seconds, "model": time.perf_counter() - began}
            outcome = outcome_of(consulted, order.id)
            return replace(outcome, last_step=case.detected.steps or None, seconds=seconds)
        doubtful = order.refines and in_doubt(case.diagnosis.verdict)
        return replace(
            outcome_of(case.diagnosis, order.id, "refining" if doubtful else "complete"),
            kept=pack(case.sighted.log),
            last_step=case.detected.steps or None,
            seen=typed.seen(case.sighted.log),
            seconds=case.seconds,
        )

    def _consulted(self, case: "Case", order: Order, asking: Asking) -> Diagnosis:
        from app.consult import consult

        agent = self._agents.of(asking)
        return consult(case, agent, diagnosis_id=order.id, digest_tokens=order.digest_tokens)


def expected_text_bytes(paths: Sequence[Path]) -> int:
    """Guess how much text is to be read, for the progress and for limits on time."""
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else (path,))]
    return sum(_text_bytes(file) for file in files if file.is_file()) or 1


def _text_bytes(file: Path) -> int:
    try:
        size = file.stat().st_size
        with file.open("rb") as opened:
            head = opened.read(4)
    except OSError:
        return 0  # the pipeline will say so if it matters
    return size * _USUAL_RATIO if head.startswith(_COMPRESSED) else size


class _Desk:
    """What this process holds between two orders."""

    reader: Reader | Fault
    progress: c_double


_desk = _Desk()


def start(prepare: Prepare, folders: tuple[Path, Path, Path], progress: c_double) -> None:
    """Set up this process; a fault in the rules is kept and answered to every order."""
    for told in (signal.SIGINT, signal.SIGTERM):  # often sent to the whole group, but meant for
        signal.signal(told, signal.SIG_IGN)  # the web process, with which this one ends
    journal.set_up("worker")
    threading.Thread(target=_die_with_parent, daemon=True).start()
    os.nice(_NICENESS)
    _desk.progress = progress
    try:
        _desk.reader = prepare(*folders)
    except FirstFaultError as error:
        _desk.reader = fault_of(error)


def hello() -> Rules | Fault:
    """Say which rules this worker has loaded."""
    return _desk.reader if isinstance(_desk.reader, Fault) else _desk.reader.rules


def read(order: Order) -> Reading:
    """Diagnose one log; every failure comes back as a Fault."""
    if isinstance(_desk.reader, Fault):
        return Reading(_desk.reader)
    began = time.process_time()
    with journal.about(order.id, order.request_id):
        result = _read(_desk.reader, order)
    return Reading(result, time.process_time() - began)


def _read(reader: Reader, order: Order) -> Outcome | Fault:
    began = time.perf_counter()
    try:
        with copies(order.paths, order.store) as paths:
            fetched = time.perf_counter() - began
            outcome = reader.read(replace(order, paths=tuple(paths)), _set_progress)
    except FirstFaultError as error:
        return fault_of(error)
    except Exception:  # noqa: BLE001  the edge of a background run, which must be marked failed
        return Fault("InternalError", 500, traceback.format_exc())
    copied = {"fetch": fetched} if paths != list(order.paths) else {}
    return replace(outcome, seconds={**copied, **outcome.seconds})


def _set_progress(share: float) -> None:
    _desk.progress.value = share


def _die_with_parent() -> None:
    """End this process when the web process is gone, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
