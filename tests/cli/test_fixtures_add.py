from pathlib import Path

import pytest
import yaml

from app.story import Answer
from tests.cli.running import Command

_LOG = """\
+ export HF_TOKEN=hf_0123456789abcdefghij
resuming /home/ines/run7
Traceback (most recent call last):
  File "/home/ines/run7/train.py", line 12, in <module>
    value = table["width"]
KeyError: 'width'
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "Train-7.log"
    path.write_text(_LOG)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "fixtures"
    path.mkdir()
    return path


def test_a_log_becomes_a_story_with_the_lines_of_the_verdict(
    firstfault: Command, log: Path, folder: Path
) -> None:
    told = firstfault("fixtures", "add", log, "--primary", "KeyError", "--into", folder)
    story = folder / "KeyError" / "train_7.yaml"
    right = Answer.model_validate(yaml.safe_load(story.read_text()))
    assert told.status == 0
    assert right.primary == "KeyError"
    assert right.evidence == (6,)
    copy = story.with_suffix(".log").read_text()
    assert "ines" not in copy
    assert "hf_" not in copy
    assert copy.count("\n") == _LOG.count("\n")


def test_a_verdict_that_is_wrong_as_yet_is_not_taken_over(
    firstfault: Command, log: Path, folder: Path
) -> None:
    told = firstfault(
        "fixtures", "add", log, "--primary", "CUDAError", "--origin", "a: b", "--into", folder
    )
    right = yaml.safe_load((folder / "CUDAError" / "train_7.yaml").read_text())
    assert "KeyError as yet" in told.out
    assert right["origin"] == "a: b"
    assert right["action"] == "restart"
    assert right["evidence"] == []


def test_an_unknown_cause_an_old_name_and_a_missing_folder_are_refused(
    firstfault: Command, log: Path, folder: Path
) -> None:
    add = ("fixtures", "add", log, "--into", folder, "--primary")
    assert "did you mean KeyError?" in firstfault.refused(*add, "KeyEror")
    (folder / "KeyError").mkdir()
    (folder / "KeyError" / "train_7.log").write_text("old")
    assert "exists" in firstfault.refused(*add, "KeyError")
    assert (folder / "KeyError" / "train_7.log").read_text() == "old"
    assert "no such folder" in firstfault.refused(*add, "KeyError", "--into", folder / "gone")
