"""Hold what a model makes of doubtful logs against their right answers.

    python -m tests.agent FOLDER --base-url http://127.0.0.1:8089/v1

FOLDER holds stories, in the form of `fixtures/`. Each that the rules leave in doubt is put to the
model, several at once. With `--unknown` the signal that decided is taken away from the rules first:
that is how a failure looks that no rule knows, and on stories that the rules were made with it is
the only way to learn what a model is worth. With `--dump` each question is written to a folder.
"""

import argparse
import os
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from app import pipeline
from app.consult import consult
from app.judge.in_doubt import in_doubt
from app.model import Diagnosis
from app.pipeline import Case, examine
from app.reason.budget import Limits
from app.reason.call import Call, Spending
from app.reason.client import Client
from app.reason.desk import Endpoint
from app.reason.failure_agent import FailureAgent
from app.reason.prompt import Prompts
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from app.story import Story, read_stories

_ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Outcome:
    """One story before and after the model was asked."""

    story: Story
    before: Diagnosis
    after: Diagnosis

    @property
    def was_right(self) -> bool:
        return self.before.verdict.primary.cause == self.story.right.primary

    @property
    def is_right(self) -> bool:
        return self.after.verdict.primary.cause == self.story.right.primary


class Counting:
    """Keeps the calls, and writes questions where somebody wants to read them."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._lock = threading.Lock()

    def record(self, call: Call) -> None:
        with self._lock:
            self.calls.append(call)


class Dumping(FailureAgent):
    """Writes each question to a folder before it is asked."""

    folder: Path | None = None

    def _question(self, matter, masks, more=None):  # type: ignore[no-untyped-def]
        question = super()._question(matter, masks, more)
        if self.folder is not None:
            messages = question.filled(self._client.endpoint.context_tokens - 4000)
            name = getattr(matter, "story", threading.current_thread().name)
            text = f"{messages.system}\n--------\n{messages.prompt}"
            (self.folder / f"{name}{'.again' if more else ''}.txt").write_text(text)
        return question


def cases(
    stories: Sequence[Story], compiled: Compiled, *, unknown: bool
) -> list[tuple[Story, Case]]:
    """Diagnose all stories; give those in doubt."""
    found = []
    for story in stories:
        case = examine([story.log], compiled)
        if unknown:
            signal = case.diagnosis.verdict.primary.signal
            if signal is None:
                continue
            case = _without(signal, story, compiled)
        if in_doubt(case.diagnosis.verdict):
            found.append((story, case))
    return found


def _without(signal: str, story: Story, compiled: Compiled) -> Case:
    real = pipeline.detect

    def fewer(*given):  # type: ignore[no-untyped-def]
        shown = real(*given)
        return replace(shown, findings=tuple(f for f in shown.findings if f.signal != signal))

    with patch.object(pipeline, "detect", fewer):
        return examine([story.log], compiled)


def report(outcomes: Sequence[Outcome], calls: Sequence[Call]) -> str:
    """Sum up."""
    count = len(outcomes)
    rows = [f"{count} stories in doubt"]
    for name, right in (("rules", "was_right"), ("rules and model", "is_right")):
        sure = sum(getattr(one, right) for one in outcomes)
        rows.append(f"  right with {name}: {sure} ({sure / max(1, count):.1%})")
    better = [one for one in outcomes if one.is_right and not one.was_right]
    worse = [one for one in outcomes if one.was_right and not one.is_right]
    rows.append(f"  better: {len(better)}, worse: {len(worse)}")
    rows += [f"    worse: {_told(one)}" for one in worse]
    rows += [
        f"    still wrong: {_told(one)}"
        for one in outcomes
        if not one.is_right and not one.was_right
    ]
    opinions = [one.after.opinion for one in outcomes if one.after.opinion]
    standing = sum(len(opinion.quotes) for opinion in opinions)
    struck = [quote for opinion in opinions for quote in opinion.struck]
    rows.append(f"  quotes: {standing} stand, {len(struck)} struck")
    rows += [f"    struck: {quote.line}: {quote.text[:100]!r}: {quote.why}" for quote in struck]
    silent = Counter(one.after.asked.note for one in outcomes if one.after.asked)
    rows += [f"    no answer ({n} times): {note}" for note, n in silent.items() if note]
    asked = sum(call.tokens_in for call in calls) / max(1, count)
    answered = sum(call.tokens_out for call in calls) / max(1, count)
    rows.append(
        f"  a story: {len(calls) / max(1, count):.2f} calls, {asked:.0f} tokens asked, "
        f"{answered:.0f} answered"
    )
    rows.append(f"  calls: {dict(Counter(call.outcome for call in calls))}")
    return "\n".join(rows)


def _told(one: Outcome) -> str:
    opinion = one.after.opinion
    said = opinion.cause if opinion else "nothing"
    return (
        f"{one.story.name}: {one.story.right.primary}; rules {one.before.verdict.primary.cause}, "
        f"model {said}, then {one.after.verdict.primary.cause}"
    )


def main() -> None:
    """Ask, and print the report."""
    told = _arguments().parse_args()
    rules = load(_ROOT / "rules", told.cache)
    compiled = Compiled(rules, told.cache)
    stories = [s for s in read_stories(told.folder) if not told.only or told.only in s.name]
    doubtful = cases(stories, compiled, unknown=told.unknown)[: told.limit]
    print(f"{len(stories)} stories, {len(doubtful)} of them in doubt", flush=True)
    counting = Counting()
    endpoint = Endpoint(
        model=told.model,
        base_url=told.base_url,
        api_key=os.environ.get("FIRSTFAULT_MODEL_API_KEY"),
        seconds=told.seconds,
        parallel=told.parallel,
    )
    client = Client(endpoint, counting.record)
    agent = Dumping(client, Prompts(_ROOT / "prompts"), Limits(), lambda _: Spending())
    if told.dump:
        told.dump.mkdir(parents=True, exist_ok=True)
        agent.folder = told.dump

    def ask(item: tuple[Story, Case]) -> Outcome:
        story, case = item
        threading.current_thread().name = story.name.replace("/", "_")
        after = consult(case, agent)
        print(".", end="", flush=True, file=sys.stderr)
        return Outcome(story, case.diagnosis, after)

    with ThreadPoolExecutor(told.parallel) as pool:
        outcomes = list(pool.map(ask, doubtful))
    client.close()
    print(report(outcomes, counting.calls))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.agent", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", default="any")
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
