"""Labelled logs are read in both forms, and what a model did to them is told as it is."""

from dataclasses import replace

import pytest

from app.errors import UsageError
from app.pipeline import diagnose
from tests.agent.labels import Label, labels
from tests.agent.outcome import Outcome, report

_STORY = """\
origin: made up
primary: KeyError
present: [KeyError]
evidence: [1]
action: fix_config
"""


def test_a_folder_of_cases_is_read(tmp_path):
    for name, told in {
        "one": "primary: KeyError\nacceptable: [ValueError]\naction: fix_code\nfiles: [b.out]\n",
        "two": "primary: Completed\n",
        "three": "primary: ECCError\nacceptable_actions: [restart, none]\naction: restart\n",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "case.yaml").write_text(told)
    (tmp_path / "one" / "b.out").touch()
    (tmp_path / "two" / "log.txt").touch()
    (tmp_path / "three" / "logs").mkdir()
    one, three, two = labels(tmp_path)
    assert (one.causes, one.actions) == (("KeyError", "ValueError"), {"fix_code"})
    assert one.paths == (tmp_path / "one" / "b.out",)
    assert (two.paths, two.actions) == ((tmp_path / "two" / "log.txt",), frozenset())
    assert (three.paths, three.actions) == ((tmp_path / "three" / "logs",), {"restart", "none"})


def test_a_folder_of_stories_is_read(tmp_path):
    (tmp_path / "pump.yaml").write_text(_STORY)
    (tmp_path / "pump.log").touch()
    (story,) = labels(tmp_path)
    assert (story.name, story.paths) == ("pump", (tmp_path / "pump.log",))
    assert (story.causes, story.actions) == (("KeyError",), {"fix_config"})


def test_a_case_without_its_cause_is_refused(tmp_path):
    (tmp_path / "case.yaml").write_text("primari: KeyError\n")
    with pytest.raises(UsageError, match="`primary` is missing"):
        labels(tmp_path)


def test_better_worse_and_harmful_are_counted(compiled, tmp_path):
    log = tmp_path / "train.log"
    log.write_text("Traceback (most recent call last):\n  File 'a.py', line 1\nKeyError: 'pump'\n")
    key = diagnose([log], compiled)
    log.write_text("all is quiet\n")
    quiet = diagnose([log], compiled)
    plan = replace(key.plan, action="cordon_and_restart")
    cordoned = replace(key, plan=plan)
    right = Label("right", (log,), ("KeyError",), frozenset({"fix_code"}))
    wrong = Label("wrong", (log,), ("Completed",), frozenset({"none"}))
    told = report(
        [
            Outcome(right, quiet, key),
            Outcome(right, key, quiet),
            Outcome(right, key, cordoned),
            Outcome(wrong, quiet, key),
        ],
        [Outcome(right, key, key)],
        [],
    )
    assert "4 logs in doubt\n  right by rules: 2 (50.0%)\n  right with the model: 2 (50.0%)" in told
    assert "5 logs of all\n  right by rules: 3 (60.0%)" in told
    assert "better: 1\n" in told
    assert "worse: 1\n" in told
    assert "harmful: 2\n" in told
    assert "cordons a healthy node" in told
    assert "mistakes the outcome of the job" in told
