"""`firstfault diagnose` with a model that is configured."""

import json
from pathlib import Path

import pytest

from app.reason.fake import FakeModel
from app.reason.script import Script
from tests.cli.running import SHOWCASE, Command
from tests.test_consult import DARK, reply

NAMED = reply("NodeFailure", (30, "the great wheel of hall 7 came off its shaft"))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(DARK)
    return path


def told(answer: dict[str, object]) -> FakeModel:
    return FakeModel(Script.model_validate({"answers": [answer]}))


def place(fake: FakeModel) -> dict[str, str]:
    return {"FIRSTFAULT_MODEL": "fake", "FIRSTFAULT_MODEL_BASE_URL": fake.url}


def test_the_model_is_asked_where_the_rules_leave_a_doubt(
    firstfault: Command, log: Path, tmp_path: Path
) -> None:
    with told({"replies": [NAMED]}) as fake:
        more = {**place(fake), "FIRSTFAULT_DATA_DIR": str(tmp_path / "data")}
        said = firstfault("diagnose", log, **more)
        answer = json.loads(firstfault("diagnose", "--json", log, **more).out)
        assert (said.status, said.err) == (0, "")
        assert said.out.startswith("NodeFailure · infrastructure · confidence low\n")
        assert "A language model says: no rule does" in said.out
        assert (answer["method"], answer["primary"]["cause"]) == ("model", "NodeFailure")
        assert answer["versions"]["model"] == "fake"
        assert not (tmp_path / "data").exists()


def test_rules_only_asks_nobody_and_neither_does_a_proof(firstfault: Command, log: Path) -> None:
    with told({"replies": [NAMED]}) as fake:
        answer = json.loads(
            firstfault("diagnose", "--json", "--rules-only", log, **place(fake)).out
        )
        assert (answer["primary"]["cause"], answer["opinion"]) == ("Unknown", None)
        firstfault("diagnose", SHOWCASE, **place(fake))
        assert not fake.asked


def test_a_model_that_fails_is_told_of_and_changes_nothing(firstfault: Command, log: Path) -> None:
    with told({"status": 401}) as fake:
        said = firstfault("diagnose", log, **place(fake))
    assert said.status == 0
    assert said.out.startswith("Unknown")
    assert "the language model gave no answer (denied)" in said.out
