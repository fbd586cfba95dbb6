import json
from pathlib import Path

import pytest

from app.cli.fixtures_check import scores_of
from app.rulebook.compiled import Compiled
from tests.cli.running import Command

_CUDA = """\
step 400 loss 2.31
[rank3]: Traceback (most recent call last):
[rank3]:   File "/w/train.py", line 12, in <module>
[rank3]:     step()
[rank3]: RuntimeError: CUDA error: an illegal memory access was encountered
"""
_KEY = _CUDA.replace(
    "RuntimeError: CUDA error: an illegal memory access was encountered", "KeyError: 'width'"
)


def _answer(primary: str, action: str, more: str = "") -> str:
    return f"origin: test\nprimary: {primary}\npresent: []\nevidence: []\naction: {action}\n{more}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, log, answer in (
        ("right", _CUDA, _answer("CUDAError", "restart", "suspect: {rank: 3}\n")),
        ("harm", _CUDA, _answer("AssertionError", "fix_code", "suspect: {rank: 7}\n")),
        ("script", _KEY, _answer("KeyError", "fix_code")),
        ("ended", _KEY, _answer("Completed", "none")),
    ):
        (tmp_path / f"{name}.log").write_text(log)
        (tmp_path / f"{name}.yaml").write_text(answer)
    return tmp_path


def test_coverage_and_judging_are_told_by_domain(firstfault: Command, folder: Path) -> None:
    told = firstfault("fixtures", "check", folder)
    assert told.status == 0
    lines = {line.split()[0]: line.split() for line in told.out.split("\n") if line.strip()}
    assert lines["domain"] == [
        "domain", "stories", "coverage", "judging", "right", "actions", "suspects", "harmful",
    ]  # fmt: skip
    assert " ".join(lines["script"]) == "script 1 1/1 100% 1/1 100% 1/1 100% 1/1 100% - 0"
    assert lines["framework"][1:4] == ["1", "0/1", "0%"]
    assert lines["all"][1:4] == ["4", "2/4", "50%"]
    assert lines["all"][-1] == "2"
    assert "harm: AssertionError not found; the verdict is CUDAError" in told.out
    assert "harm: harmful: restarts into the same failure" in told.out
    assert "ended: harmful: mistakes whether the job finished" in told.out


def test_the_figures_are_there_for_programs_too(firstfault: Command, folder: Path) -> None:
    told = json.loads(firstfault("fixtures", "check", folder, "--json").out)
    assert told["all"]["right"] == {"count": 2, "of": 4, "share": 0.5}
    assert told["domains"]["script"]["suspects"] == {"count": 0, "of": 0, "share": None}
    assert {one["story"]: one["right"] for one in told["stories"]} == {
        "ended": False, "harm": False, "right": True, "script": True,
    }  # fmt: skip


@pytest.mark.parametrize(("least", "status"), [("0.5", 0), ("0.51", 1)])
def test_too_few_right_verdicts_fail(
    firstfault: Command, folder: Path, least: str, status: int
) -> None:
    told = firstfault("fixtures", "check", folder, "--min", least)
    assert told.status == status
    assert "coverage" in told.out


def test_a_folder_without_a_story_or_with_unknown_causes_is_refused(
    firstfault: Command, tmp_path: Path
) -> None:
    assert "no story" in firstfault.refused("fixtures", "check", tmp_path)
    (tmp_path / "a.log").write_text(_KEY)
    (tmp_path / "a.yaml").write_text(_answer("KeyErorr", "none"))
    assert "no such cause: KeyErorr" in firstfault.refused("fixtures", "check", tmp_path)


def test_what_is_found_but_not_chosen_is_coverage_without_judging(
    tmp_path: Path, compiled: Compiled
) -> None:
    (tmp_path / "two.log").write_text(_CUDA.replace("rank3", "rank1") + _KEY)
    (tmp_path / "two.yaml").write_text(_answer("KeyError", "fix_code"))
    (one,) = scores_of(tmp_path, compiled)
    assert one.covered
    assert not one.right
