"""What the doctor says of each thing, when it is well and when it is not."""

import sqlite3

import pytest

from app.reason.fake import FakeModel
from app.reason.script import Script
from app.service.doctor import Look, examined
from app.settings import Settings
from app.store.database import connect
from app.store.migrate import migrate
from tests.postgres import free_port
from tests.small_rules import write_rules

SECRET = "whsec_" + "QUFB" * 8


@pytest.fixture
def looks(tmp_path):
    rules = write_rules(tmp_path / "rules")

    def found(**chosen: object) -> dict[str, Look]:
        told = {"data_dir": tmp_path / "data", "cache_dir": tmp_path / "c", "rules_dir": rules}
        settings = Settings.model_validate({**told, "min_free_bytes": 1, **chosen})
        return {look.name: look for look in examined(settings)}

    return found


def test_the_defaults_are_well_before_the_first_start(looks, tmp_path):
    found = looks()
    assert {look.level for look in found.values()} == {"ok"}
    assert len(found) == 12
    assert not (tmp_path / "data").exists()


def test_a_database_is_known_by_its_revision(looks, tmp_path):
    engine = connect(f"sqlite:///{tmp_path / 'data' / 'firstfault.db'}")
    migrate(engine, "0003")
    assert looks()["database"].level == "warn"
    migrate(engine)
    engine.dispose()
    assert looks()["database"].level == "ok"
    with sqlite3.connect(tmp_path / "data" / "firstfault.db") as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    connection.close()
    assert looks()["database"].level == "fail"


@pytest.mark.parametrize(
    ("name", "level", "chosen"),
    [
        ("database", "fail", {"database_url": "postgresql://x@127.0.0.1:{port}/x"}),
        ("disk", "fail", {"min_free_bytes": 1 << 60}),
        ("rules", "fail", {"rules_dir": "/nowhere"}),
        ("prompts", "fail", {"prompts_dir": "/nowhere"}),
        ("memory", "warn", {"chroma_url": "http://127.0.0.1:{port}"}),
        ("memory", "fail", {"embedder": "/nowhere"}),
        ("model", "fail", {"model": "m", "model_base_url": "http://127.0.0.1:{port}/v1"}),
        ("log roots", "fail", {"log_roots": ("/nowhere",)}),
        ("webhook secrets", "fail", {"webhook_secrets": (SECRET, "whsec_short")}),
        ("tokens", "fail", {"host": "0.0.0.0"}),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do(looks, name, level, chosen):
    port = free_port()
    filled = {k: v.format(port=port) if isinstance(v, str) else v for k, v in chosen.items()}
    found = looks(**filled)
    assert (found[name].level, bool(found[name].remedy)) == (level, True)
    assert {look.level for look in found.values() if look.name != name} == {"ok"}


def test_a_model_that_answers_is_well(looks):
    with FakeModel(Script.model_validate({"answers": []})) as fake:
        assert looks(model="fake", model_base_url=fake.url)["model"].level in ("ok", "warn")


def test_a_secret_is_never_printed(looks):
    found = looks(
        webhook_secrets=("whsec_hunter2",),
        tokens=(f"ops:admin:{'hunter2' * 5}",),
        model="m",
        model_base_url=f"http://me:hunter2@127.0.0.1:{free_port()}/v1?key=hunter2",
    )
    assert "hunter2" not in "".join(look.told + look.remedy for look in found.values())


def test_a_misspelt_setting_is_named(looks, monkeypatch):
    monkeypatch.setenv("FIRSTFAULT_LOG_ROOT", "/logs")
    found = looks()["settings"]
    assert found.level == "warn"
    assert "did you mean FIRSTFAULT_LOG_ROOTS?" in found.told
