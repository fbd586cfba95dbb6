"""Each log of `fixtures/` is given its right answer, without a model and without a network."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from app.detect.detect import detect, look
from app.judge.primary import rank
from app.model import Diagnosis, Job
from app.pipeline import Limits, compressed, diagnose
from app.rulebook.compiled import Compiled
from app.story import Answer, Aspect, Story
from tests.labelled import ROOT, stories
from tests.places import RULES

# A story in each folder of causes, and enough of what is easily got wrong.
_AT_LEAST = {"Completed": 8, "Unknown": 3}


def _each(
    aspect: Aspect, wanted: Callable[[Answer], object] = lambda right: True
) -> pytest.MarkDecorator:
    """Run a test for each story that says something of an aspect."""
    chosen = [story for story in stories() if wanted(story.right)]
    return pytest.mark.parametrize(
        "story",
        [
            pytest.param(
                story,
                id=story.name,
                marks=[pytest.mark.xfail(strict=True, reason=story.right.open[aspect])]
                if aspect in story.right.open
                else [],
            )
            for story in chosen
        ],
    )


def _told(story: Story, compiled: Compiled) -> Diagnosis:
    return _diagnosed(story.log, compiled)


@cache
def _diagnosed(log: Path, compiled: Compiled) -> Diagnosis:
    return diagnose([log], compiled)


@_each("verdict")
def test_a_log_is_given_its_primary_cause_and_what_to_do(story: Story, compiled: Compiled) -> None:
    told = _told(story, compiled)
    assert told.verdict.primary.cause == story.right.primary
    assert told.plan.action == story.right.action
    if story.right.restart is not None:
        assert told.plan.restart == story.right.restart


@_each("evidence", lambda right: right.evidence)
def test_the_lines_that_a_person_would_point_at_are_evidence(
    story: Story, compiled: Compiled
) -> None:
    shown = {(item.file, item.line): item.text for item in _told(story, compiled).verdict.evidence}
    wanted = story.places(story.right.evidence)
    assert wanted <= set(shown)
    for name, number in wanted:
        file = story.log if story.log.is_file() else story.log / name
        assert shown[name, number].strip() in file.read_text().split("\n")[number - 1]


@_each("present", lambda right: right.present)
def test_all_causes_that_are_present_are_told(story: Story, compiled: Compiled) -> None:
    verdict = _told(story, compiled).verdict
    told = {verdict.primary.cause} | {item.cause for item in verdict.explained}
    told |= {root.cause for root in verdict.other_roots}
    assert set(story.right.present) <= told


@_each("suspect", lambda right: right.suspect)
def test_the_place_of_the_fault_is_among_the_suspects(story: Story, compiled: Compiled) -> None:
    place = story.right.suspect
    assert place is not None
    known = place.model_dump(exclude_none=True)
    suspects = _told(story, compiled).verdict.suspects
    assert any(known.items() <= _known(suspect).items() for suspect in suspects), suspects


def _known(suspect: object) -> dict[str, object]:
    return {name: getattr(suspect, name) for name in ("host", "rank", "gpu", "nic")}


@_each("attempts")
def test_earlier_attempts_have_their_own_verdicts(story: Story, compiled: Compiled) -> None:
    earlier = tuple(attempt.cause for attempt in _told(story, compiled).attempts)
    assert earlier == story.right.attempts


@_each("keeps", lambda right: right.keeps)
def test_lines_that_matter_survive_compression(story: Story, compiled: Compiled) -> None:
    log = compressed([story.log], compiled, Limits())
    kept = {(log.files[line.file].name, line.number) for line in log.lines}
    assert story.places(story.right.keeps) <= kept


@_each("proof", lambda right: right.primary == "Completed")
def test_no_proof_is_left_unexplained_in_a_run_that_ended_well(
    story: Story, compiled: Compiled
) -> None:
    sighted = look(compressed([story.log], compiled, Limits()), compiled)
    found = detect(sighted, sighted.attempts[-1], compiled, Job())
    roots = rank(found.findings, compiled.rulebook).roots
    assert not [(root.signal, root.first.raw) for root in roots if root.strength == "proof"]


@pytest.mark.parametrize("story", stories(), ids=lambda story: story.name)
def test_a_story_stands_in_the_folder_of_its_cause_and_names_lines_that_exist(story: Story) -> None:
    assert story.name.split("/")[0] == story.right.primary
    lengths = {path.name: path.read_text().count("\n") for path in story.files()}
    for name, number in story.places(story.right.evidence) | story.places(story.right.keeps):
        assert 1 <= number <= lengths[name]


def test_every_log_has_its_answer() -> None:
    told = {path for story in stories() for path in story.files()}
    assert set(ROOT.rglob("*.log")) == told


def test_every_cause_has_its_story_and_outcomes_have_several() -> None:
    count = Counter(story.right.primary for story in stories())
    causes = {path.stem for path in (RULES / "causes").glob("*/[!_]*.yaml")}
    assert not causes - set(count)
    assert all(count[outcome] >= least for outcome, least in _AT_LEAST.items())


def test_some_jobs_wrote_several_files_and_some_started_several_times() -> None:
    assert sum(story.log.is_dir() for story in stories()) >= 4
    assert sum(bool(story.right.attempts) for story in stories()) >= 3
