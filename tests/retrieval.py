"""How well memory finds failures of the same cause: `python -m tests.retrieval [FOLDER…]`.

Each story of the folders (fixtures/ by default) is asked for among all others: is the nearest of
the same cause, is one of the five nearest? Stories whose cause no other story shares cannot be
found and do not count. Then the ground on which memory alone may speak: each log is looked at as
if no rule knew its cause, and two or more of the nearest must lie close and agree. Logs in which
the rules would then have named a consequence are left out: memory is not asked there.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.detect.detect import detect, look
from app.errors import UsageError
from app.incident import Snippet
from app.judge.verdict import judge
from app.memory.embed import HASHING, MINILM, embedder
from app.memory.nearest import joined
from app.memory.snippet import snippet, tells
from app.memory.words import Words
from app.model import Job
from app.pipeline import Limits, compressed
from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from app.story import read_stories
from tests.labelled import ROOT

Scores = NDArray[np.float64]  # of each case, a row, against each other one
_FEW = 5
_AGREEING = 2
_BOUNDS = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


@dataclass(frozen=True)
class Case:
    """One log: its cause, how it shows, and how it would if no rule knew that cause.

    `unexplained` is None where the rules would then name another one.
    """

    cause: str
    shown: Snippet
    unexplained: Snippet | None


def cases(folders: Sequence[Path], compiled: Compiled) -> list[Case]:
    """Look at every story that failed for a known cause."""
    stories = (story for folder in folders for story in read_stories(folder))
    return [
        case_of(story.right.primary, story.files(), compiled)
        for story in stories
        if story.right.primary not in ("Completed", "Unknown")
    ]


def case_of(cause: str, files: Sequence[Path], compiled: Compiled) -> Case:
    """Look at one log as the pipeline does."""
    log = compressed(list(files), compiled, Limits())
    sighted = look(log, compiled)
    attempt = sighted.attempts[-1]
    detected = detect(sighted, attempt, compiled, Job())
    verdict, _ = judge(detected, compiled.rulebook, log.files, Job())
    lines = [line for line in log.lines if attempt.holds(line.file, line.number)]
    echoes = {
        (sighting.line.file, sighting.line.number)
        for finding in detected.findings
        if finding.strength == "echo"
        for sighting in finding.sightings
    }
    others = [f for f in detected.findings if f.cause != verdict.primary.cause]
    if any(finding.strength in ("proof", "clue") for finding in others):
        return Case(cause, snippet(verdict, lines, echoes), None)
    silent = replace(verdict, primary=replace(verdict.primary, cause="Unknown", strength=None))
    return Case(cause, snippet(verdict, lines, echoes), snippet(silent, lines, echoes))


def by_vectors(name: str, asked: Sequence[Snippet], kept: Sequence[Snippet]) -> Scores:
    """Score by cosine; a case does not meet itself."""
    chosen = embedder(name)
    scores = (chosen.embed(asked) @ chosen.embed(kept).T).astype(np.float64)
    np.fill_diagonal(scores, -1)
    return scores


def by_words(asked: Sequence[Snippet], kept: Sequence[Snippet]) -> Scores:
    """Score by BM25."""
    words = Words()
    for number, one in enumerate(kept):
        words.add(str(number), one)
    scores = np.full((len(asked), len(kept)), 0.0)
    for number, one in enumerate(asked):
        for id, score in words.nearest(one, len(kept)):
            scores[number, int(id)] = score
    np.fill_diagonal(scores, -1)
    return scores


def together(*ranked: Scores) -> Scores:
    """Score by the joined ranks."""
    scores = np.zeros_like(ranked[0])
    for row in range(len(scores)):
        orders = [[str(place) for place in np.argsort(-one[row], kind="stable")] for one in ranked]
        for rank, id in enumerate(joined(*orders)):
            scores[row, int(id)] = -rank
    np.fill_diagonal(scores, -len(scores) - 1)
    return scores


def found(scores: Scores, causes: Sequence[str]) -> tuple[float, float, int]:
    """Give the shares of right ones at 1 and at 5, and of how many."""
    shared = Counter(causes)
    rows = [row for row, cause in enumerate(causes) if shared[cause] > 1]
    orders = np.argsort(-scores, axis=1, kind="stable")
    right = [[causes[place] == causes[row] for place in orders[row, :_FEW]] for row in rows]
    total = max(1, len(rows))
    return sum(one[0] for one in right) / total, sum(map(any, right)) / total, len(rows)


def agreement(
    scores: Scores, causes: Sequence[str], asked: Sequence[Snippet]
) -> Mapping[float, tuple[int, int]]:
    """Count, for each bound, where the nearest agree, and where they are right."""
    told: dict[float, tuple[int, int]] = {}
    for bound in _BOUNDS:
        said = right = 0
        for row, one in enumerate(asked):
            near = [p for p in np.argsort(-scores[row])[:_FEW] if scores[row, p] >= bound]
            names = {causes[place] for place in near}
            if tells(one) and len(near) >= _AGREEING and len(names) == 1:
                said += 1
                right += causes[row] in names
        told[bound] = (right, said)
    return told


def report(known: Sequence[Case]) -> Iterator[str]:
    """Give the tables, line by line."""
    causes = [one.cause for one in known]
    shown = [one.shown for one in known]
    vectors = {name: by_vectors(name, shown, shown) for name in _installed()}
    words = by_words(shown, shown)
    ways = {"words": words, **vectors}
    ways |= {f"{name} + words": together(scores, words) for name, scores in vectors.items()}
    yield f"{'way':18} {'at 1':>6} {'at 5':>6}   of"
    for way, scores in ways.items():
        first, few, total = found(scores, causes)
        yield f"{way:18} {first:6.1%} {few:6.1%} {total:4}"
    yield from _alone(known, list(vectors))


def _alone(known: Sequence[Case], names: Sequence[str]) -> Iterator[str]:
    """Tell how often memory alone would be right, at each bound."""
    open_ones = [one for one in known if one.unexplained is not None]
    asked = [one.unexplained or Snippet() for one in open_ones]
    causes = [one.cause for one in open_ones]
    for name in names:
        for kept, where in ((asked, "like logs"), ([o.shown for o in open_ones], "explained ones")):
            told = agreement(by_vectors(name, asked, kept), causes, asked)
            counts = "  ".join(f"{bound}: {a}/{b}" for bound, (a, b) in told.items())
            yield f"two agree, {name} among {where} ({len(asked)}): {counts}"


def _installed() -> Iterator[str]:
    yield HASHING
    try:
        embedder(MINILM)
    except UsageError as error:
        print(error, file=sys.stderr)
    else:
        yield MINILM


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    cache = Path.home() / ".cache" / "firstfault"
    rules = Compiled(load(ROOT.parent / "rules", cache), cache)
    for line in report(cases([Path(name) for name in sys.argv[1:]] or [ROOT], rules)):
        print(line)
