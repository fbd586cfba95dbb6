"""What a strength promises, held for every example of every rule as a log of its own.

The other tests of rules ask whether a signal is found; these ask what comes of it. There are no
exceptions here: where another signal tells more of the same line it says so in the rules, by
`refines`.
"""

from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO

import pytest

from app.model import Primary, Strength
from app.pipeline import diagnose
from app.rulebook.signal import Signal
from tests.own_rules import COMPILED

BOOK = COMPILED.rulebook
_PROOFS = {
    "CUDAError": "RuntimeError: CUDA error: an illegal memory access was encountered",
    "KeyError": 'Traceback (most recent call last):\n  File "/w/a.py", line 3, in <module>\n'
    "    row['text']\nKeyError: 'text'",
    "NodeFailure": "n-3 kernel: NVRM: Xid (PCI:0000:4e:00): 79, pid=1, GPU has fallen off the bus.",
    "OutOfMemoryError": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
}
_REPORT = """
E0102 03:04:05.000000 77 torch/distributed/elastic/multiprocessing/api.py:874] failed \
(exitcode: 1) local_rank: 0 (pid: 78) of binary: /opt/py/bin/python
srun: error: n-1: task 0: Exited with exit code 1
"""


@cache
def _verdict(log: str) -> Primary:
    return diagnose([BytesIO(log.encode())], COMPILED).verdict.primary


def _hits(emitter: str, *strengths: Strength) -> Iterator[tuple[Signal, str]]:
    for signal in BOOK.signals:
        if signal.emitter == emitter and signal.strength in strengths:
            yield from ((signal, hit) for hit in signal.hits)


def _each(*strengths: Strength) -> pytest.MarkDecorator:
    """Run a test for each emitter that has such signals."""
    emitters = sorted({s.emitter for s in BOOK.signals if s.strength in strengths and s.hits})
    return pytest.mark.parametrize("emitter", emitters)


def _wrong(
    emitter: str, strengths: tuple[Strength, ...], is_right: Callable[[Signal, Primary], bool]
) -> list[str]:
    """List the examples that get another verdict than they must."""
    return [
        f"{signal.name}: {told.cause} by {told.signal}: {hit}"
        for signal, hit in _hits(emitter, *strengths)
        if not is_right(signal, told := _verdict(hit))
    ]


def _has_its_cause(signal: Signal, told: Primary) -> bool:
    return told.cause == signal.cause or _is_refined(signal, told)


def _is_refined(signal: Signal, told: Primary) -> bool:
    """Say whether the signal that decided states that it tells more of the same event."""
    chosen = BOOK.signal_named.get(told.signal or "")
    return chosen is not None and bool({signal.name, signal.cause} & set(chosen.refines))


@_each("proof", "clue")
def test_a_proof_or_a_clue_alone_gives_its_cause(emitter: str) -> None:
    assert not _wrong(emitter, ("proof", "clue"), _has_its_cause)


@_each("context")
def test_a_fact_alone_gives_no_cause(emitter: str) -> None:
    assert not _wrong(emitter, ("context",), lambda signal, told: told.cause == "Unknown")


@_each("echo")
def test_an_echo_alone_gives_its_cause_as_an_echo(emitter: str) -> None:
    assert not _wrong(
        emitter,
        ("echo",),
        lambda signal, told: _has_its_cause(signal, told) and told.strength in ("echo", None),
    )


@_each("echo")
@pytest.mark.parametrize("cause", _PROOFS)
def test_no_echo_beats_a_proof_whichever_is_printed_first(emitter: str, cause: str) -> None:
    proof = _PROOFS[cause]
    logs = [
        log for _, hit in _hits(emitter, "echo") for log in (f"{proof}\n{hit}", f"{hit}\n{proof}")
    ]
    assert not [log for log in logs if _verdict(log).cause != cause]


@_each("proof", "clue")
def test_no_launcher_beats_the_reason_that_stands_before_its_report(emitter: str) -> None:
    logs = [(signal, hit + _REPORT) for signal, hit in _hits(emitter, "proof", "clue")]
    assert not [log for signal, log in logs if not _has_its_cause(signal, _verdict(log))]


@pytest.mark.parametrize("name", [harmless.name for harmless in BOOK.benign])
def test_a_harmless_line_alone_is_no_failure(name: str) -> None:
    rule = next(harmless for harmless in BOOK.benign if harmless.name == name)
    told = {hit: _verdict(hit).cause for hit in rule.hits}
    assert not {hit for hit, cause in told.items() if cause not in ("Completed", "Unknown")}
