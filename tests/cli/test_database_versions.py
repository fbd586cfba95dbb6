"""Commands beside a database of another version: no tables are changed under a service."""

from functools import partial

import pytest
import sqlalchemy as sa

from app.store.database import connect
from app.store.lock import FolderLock
from app.store.migrate import form_of, migrate

READING = (
    ("filters", "list"),
    ("filters", "export"),
    ("rules", "proposals"),
    ("memory", "search", "pump"),
)
WRITING = (("feedback", "dg_0", "--confirm"), ("reclassify",), ("rules", "approve", "rp_0"))
FORMER = "0009"


@pytest.fixture
def ask(plant, tmp_path):
    data = str(tmp_path / "data")
    return partial(plant, FIRSTFAULT_DATA_DIR=data, FIRSTFAULT_MEMORY="yes")


@pytest.fixture
def former(tmp_path):
    engine = connect(f"sqlite:///{tmp_path / 'data' / 'firstfault.db'}")
    migrate(engine, FORMER)
    yield engine
    engine.dispose()


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_command_that_reads_says_what_to_do_and_changes_nothing(ask, former, words):
    told = ask(*words)
    assert told.status == 1
    assert "Traceback" not in told.err
    assert FORMER in told.err
    assert "firstfault serve" in told.err
    assert form_of(former).found == FORMER


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_a_command_that_writes_leaves_the_file_of_a_running_service_alone(
    ask, former, tmp_path, words
):
    lock = FolderLock(tmp_path / "data")
    told = ask(*words)
    lock.release()
    assert told.status == 1
    assert "served by another process" in told.err
    assert form_of(former).found == FORMER


def test_a_command_that_writes_brings_a_file_that_nobody_has_open_up_to_date(ask, former):
    assert ask("reclassify").status == 0
    assert form_of(former).state == "right"


def test_a_database_of_a_later_version_is_left_alone(ask, former):
    migrate(former)
    with former.begin() as connection:
        connection.execute(sa.text("update alembic_version set version_num = '9999'"))
    for words in (READING[0], WRITING[1]):
        told = ask(*words)
        assert told.status == 1
        assert "install the version that serves it" in told.err


def test_on_postgresql_only_the_service_migrates(plant, tmp_path, postgres_server):
    url = postgres_server.new_database()
    ask = partial(plant, FIRSTFAULT_DATA_DIR=str(tmp_path), FIRSTFAULT_DATABASE_URL=url)
    assert "no service has used it" in ask("filters", "list").err
    engine = connect(url)
    migrate(engine, FORMER)
    for words in (READING[0], WRITING[1]):
        told = ask(*words)
        assert told.status == 1
        assert "firstfault serve" in told.err
    assert form_of(engine).found == FORMER
    engine.dispose()
