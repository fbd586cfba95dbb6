from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from app.errors import StoreError, UsageError
from app.store.database import connect
from app.store.migrate import form_of, migrate
from app.store.tables import Table


@pytest.fixture
def engine(tmp_path):
    found = connect(f"sqlite:///{tmp_path / 'made' / 'f.db'}")
    yield found
    found.dispose()


def test_migrations_make_what_the_tables_declare(engine):
    migrate(engine)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []


def test_a_database_that_is_up_to_date_is_left_as_it_is(engine):
    migrate(engine)
    migrate(engine)


def test_a_migration_that_breaks_off_leaves_nothing_and_can_be_repeated(engine, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("alembic.op.create_index", broken)
        with pytest.raises(KeyboardInterrupt):
            migrate(engine)
    assert sa.inspect(engine).get_table_names() == []
    migrate(engine)
    assert "diagnoses" in sa.inspect(engine).get_table_names()


def test_processes_that_set_up_one_file_at_once_wait_for_the_first(tmp_path):
    engines = [connect(f"sqlite:///{tmp_path / 'f.db'}") for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        for done in [threads.submit(migrate, engine) for engine in engines]:
            done.result()
    assert form_of(engines[0]).state == "right"
    for engine in engines:
        engine.dispose()


@pytest.mark.parametrize(("revision", "state"), [(None, "empty"), ("0003", "behind")])
def test_the_form_of_a_database_is_known_and_not_changed(each_database, revision, state):
    engine = connect(each_database)
    if revision:
        migrate(engine, revision)
    for _ in range(2):
        form = form_of(engine)
        assert (form.found, form.state) == (revision, state)
    engine.dispose()


def test_a_database_of_a_later_version_is_refused(engine):
    migrate(engine)
    with engine.begin() as connection:
        connection.execute(sa.text("update alembic_version set version_num = '9999'"))
    with pytest.raises(StoreError, match="another version of firstfault"):
        migrate(engine)


def test_sqlite_waits_for_locks_and_syncs_what_it_commits(engine):
    with engine.connect() as connection:
        told = {
            name: connection.exec_driver_sql(f"pragma {name}").scalar()
            for name in ("journal_mode", "busy_timeout", "synchronous")
        }
    assert told == {"journal_mode": "wal", "busy_timeout": 10000, "synchronous": 2}


def test_the_tables_can_be_made_in_postgresql():
    for table in Table.metadata.sorted_tables:
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=postgresql.dialect()))


@pytest.mark.parametrize("url", ["nonsense", "nosuchdatabase://here"])
def test_a_database_url_that_cannot_be_meant_is_named_by_its_setting(url):
    with pytest.raises(UsageError, match="FIRSTFAULT_DATABASE_URL"):
        connect(url)


def test_a_file_that_is_no_database_is_a_store_error(tmp_path):
    (tmp_path / "f.db").write_text("this is a shopping list, not a database " * 99)
    engine = connect(f"sqlite:///{tmp_path / 'f.db'}")
    with pytest.raises(StoreError):
        migrate(engine)
    engine.dispose()
