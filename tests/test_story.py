from pathlib import Path

import pytest

from app.errors import UsageError
from app.story import Answer, read_stories, written

_RIGHT = {"origin": "made up", "primary": "KeyError", "present": [], "evidence": [3]}
_WRITTEN = "origin: made up\nprimary: KeyError\npresent: []\nevidence: [3]\naction: fix_code\n"


def _story(folder: Path, name: str, answer: str = _WRITTEN) -> Path:
    path = folder / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(answer)
    path.with_suffix(".log").write_text("line\n")
    return path


def test_an_answer_is_written_in_the_form_in_which_it_is_read(tmp_path: Path) -> None:
    answer = Answer.model_validate({**_RIGHT, "action": "fix_code"})
    assert written(answer) == _WRITTEN
    _story(tmp_path, "one", written(answer))
    (story,) = read_stories(tmp_path)
    assert story.right == answer


def test_stories_lie_at_any_depth_and_may_have_several_files(tmp_path: Path) -> None:
    _story(tmp_path, "plain")
    _story(tmp_path, "KeyError/deep")
    many = tmp_path / "KeyError" / "many"
    many.mkdir()
    (many / "story.yaml").write_text(_WRITTEN)
    (many / "settings.yaml").write_text("lr: 3")
    for name in ("rank_1.log", "rank_0.log"):
        (many / name).write_text("line\n")
    names = {story.name: [path.name for path in story.files()] for story in read_stories(tmp_path)}
    assert names == {
        "KeyError/deep": ["deep.log"],
        "KeyError/many": ["rank_0.log", "rank_1.log"],
        "plain": ["plain.log"],
    }


def test_all_faults_of_all_stories_are_told_at_once(tmp_path: Path) -> None:
    _story(tmp_path, "action", _WRITTEN.replace("fix_code", "reboot"))
    _story(tmp_path, "field", _WRITTEN + "colour: red\n")
    _story(tmp_path, "broken", "a: [")
    _story(tmp_path, "reason", _WRITTEN + "rests_on: {clock: ''}\n")
    _story(tmp_path, "lonely").with_suffix(".log").unlink()
    with pytest.raises(UsageError) as told:
        read_stories(tmp_path)
    for name in ("action", "field", "broken", "reason", "lonely"):
        assert f"{name}.yaml: " in str(told.value)
    assert "rests_on.clock" in str(told.value)


def test_a_folder_that_is_missing_is_a_fault_of_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        read_stories(tmp_path / "nowhere")
