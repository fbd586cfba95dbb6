"""Hold what a model makes of doubtful logs against their right answers.

    python -m tests.agent FOLDER --base-url http://127.0.0.1:8089/v1

FOLDER holds stories, in the form of `fixtures/`, or cases (see `labels`). Each log that the rules
leave in doubt is put to the model, several at once. With `--unknown` the signal that decided is
taken away from the rules first: that is how a failure looks that no rule knows, and on logs that
the rules were made with it is the only way to learn what a model is worth. With `--dump` each
question is written to a folder; without `--base-url` that is all, and nobody is asked.
"""

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from app import pipeline
from app.consult import consult
from app.errors import ModelError
from app.judge.in_doubt import in_doubt
from app.masking import Masks
from app.pipeline import Case, examine
from app.reason.budget import Limits
from app.reason.call import Call, Spending
from app.reason.client import Client
from app.reason.desk import Endpoint
from app.reason.failure_agent import FailureAgent
from app.reason.prompt import Prompts
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from tests.agent.labels import Label, labels
from tests.agent.outcome import Outcome, report

_ROOT = Path(__file__).parent.parent.parent
_REPLY_TOKENS = 4000  # that a question leaves room for


class Counting:
    """Keeps the calls of several threads."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._lock = threading.Lock()

    def record(self, call: Call) -> None:
        with self._lock:
            self.calls.append(call)


class Dumping(FailureAgent):
    """Writes each question to a folder, if there is one, and asks if somebody answers."""

    folder: Path | None = None
    asks = True
    _asking = threading.local()

    def ask(self, matter, diagnosis_id=None):  # type: ignore[no-untyped-def]
        self._asking.name = diagnosis_id
        if not self.asks:
            self._question(matter, Masks())
            raise ModelError("unreachable", "nobody is asked")
        return super().ask(matter, diagnosis_id)

    def _question(self, matter, masks, more=None):  # type: ignore[no-untyped-def]
        question = super()._question(matter, masks, more)
        if self.folder is not None:
            messages = question.filled(self.context_tokens - _REPLY_TOKENS)
            name = self._asking.name.replace("/", "_")
            text = f"{messages.system}\n--------\n{messages.prompt}"
            (self.folder / f"{name}{'.again' if more else ''}.txt").write_text(text)
        return question


def cases(
    wanted: Sequence[Label], compiled: Compiled, *, unknown: bool
) -> tuple[list[tuple[Label, Case]], list[Outcome]]:
    """Diagnose all logs; give those in doubt, and what became of the others."""
    doubtful, sure = [], []
    for label in wanted:
        case = examine(label.paths, compiled)
        if unknown:
            signal = case.diagnosis.verdict.primary.signal
            if signal is None:
                continue
            case = _without(signal, label, compiled)
        if in_doubt(case.diagnosis.verdict):
            doubtful.append((label, case))
        else:
            sure.append(Outcome(label, case.diagnosis, case.diagnosis))
    return doubtful, sure


def _without(signal: str, label: Label, compiled: Compiled) -> Case:
    real = pipeline.detect

    def fewer(*given):  # type: ignore[no-untyped-def]
        shown = real(*given)
        return replace(shown, findings=tuple(f for f in shown.findings if f.signal != signal))

    with patch.object(pipeline, "detect", fewer):
        return examine(label.paths, compiled)


def main() -> None:
    """Ask, and print the report."""
    told = _arguments().parse_args()
    compiled = Compiled(load(_ROOT / "rules", told.cache), told.cache)
    wanted = [one for one in labels(told.folder) if told.only in one.name]
    doubtful, sure = cases(wanted, compiled, unknown=told.unknown)
    print(f"{len(doubtful) + len(sure)} logs, {len(doubtful)} of them in doubt", flush=True)
    counting = Counting()
    endpoint = Endpoint(
        model=told.model,
        base_url=told.base_url or "http://nobody.invalid/v1",
        api_key=os.environ.get("FIRSTFAULT_MODEL_API_KEY"),
        context_tokens=told.context_tokens,
        seconds=told.seconds,
        parallel=told.parallel,
    )
    client = Client(endpoint, counting.record)
    agent = Dumping(client, Prompts(_ROOT / "prompts"), Limits(), lambda _: Spending())
    agent.asks = told.base_url is not None
    if told.dump:
        told.dump.mkdir(parents=True, exist_ok=True)
        agent.folder = told.dump

    def ask(item: tuple[Label, Case]) -> Outcome:
        label, case = item
        after = consult(case, agent, diagnosis_id=label.name)
        print(".", end="", flush=True, file=sys.stderr)
        return Outcome(label, case.diagnosis, after)

    with ThreadPoolExecutor(told.parallel) as pool:
        outcomes = list(pool.map(ask, doubtful[: told.limit]))
    client.close()
    print(report(outcomes, sure, counting.calls))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.agent", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--base-url")
    parser.add_argument("--model", default="any")
    parser.add_argument("--context-tokens", type=int, default=32_768)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--only", default="")
    parser.add_argument("--unknown", action="store_true")
    parser.add_argument("--dump", type=Path, default=None)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "firstfault")
    return parser


if __name__ == "__main__":
    main()
