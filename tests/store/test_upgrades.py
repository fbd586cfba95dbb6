"""Upgrades on SQLite and on a real PostgreSQL: rows of each former revision are kept."""

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from app.store.database import connect
from app.store.migrate import MIGRATIONS, migrate
from app.store.tables import Table
from tests.postgres import MISSING, Postgres, postgres

_SCRIPTS = ScriptDirectory(str(MIGRATIONS))
REVISIONS = sorted(script.revision for script in _SCRIPTS.walk_revisions())
BOOKKEEPING = "alembic_version"
RENAMED = {("reclassifications", "last_id"): "last", ("reclassified", "diagnosis_id"): "subject"}


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    if MISSING:
        pytest.skip(MISSING)
    with postgres() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request, tmp_path) -> Iterator[sa.Engine]:
    if request.param == "sqlite":
        found = connect(f"sqlite:///{tmp_path / 'f.db'}")
    else:
        found = connect(request.getfixturevalue("server").url)
        with found.begin() as connection:
            connection.execute(sa.text("drop schema public cascade"))
            connection.execute(sa.text("create schema public"))
    yield found
    found.dispose()


def tables_of(engine: sa.Engine) -> dict[str, sa.Table]:
    known = sa.MetaData()
    known.reflect(engine)
    return {name: table for name, table in known.tables.items() if name != BOOKKEEPING}


def value_for(column: sa.Column[object]) -> object:
    """Make a value that is easy to tell from a default."""
    kind = column.type.python_type
    if kind is str:
        return f"ü{column.name}"[: getattr(column.type, "length", None) or 99]
    return {int: 7, float: 7.5, bytes: b"\0\xff7", bool: True}[kind]


def filled(engine: sa.Engine) -> dict[str, dict[str, object]]:
    """Put a row into every table; give all of them."""
    rows = {
        name: {column.name: value_for(column) for column in table.columns}
        for name, table in tables_of(engine).items()
    }
    with engine.begin() as connection:
        for name, table in tables_of(engine).items():
            connection.execute(table.insert().values(rows[name]))
    return rows


def found(engine: sa.Engine) -> dict[str, dict[str, object]]:
    with engine.connect() as connection:
        return {
            name: dict(connection.execute(table.select()).one()._mapping)
            for name, table in tables_of(engine).items()
            if connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
        }


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_upgrade_from_each_revision_keeps_its_rows_and_ends_at_the_tables(engine, revision):
    migrate(engine, revision)
    rows = filled(engine)
    migrate(engine)
    kept = found(engine)
    for name, row in rows.items():
        now = {column: RENAMED.get((name, column), column) for column in row}
        assert {column: kept[name][now[column]] for column in row} == row, name
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []


def test_calls_of_before_there_were_totals_are_counted(engine):
    migrate(engine, "0012")
    call = filled(engine)["model_calls"]
    with engine.begin() as connection:
        calls = tables_of(engine)["model_calls"]
        connection.execute(calls.insert().values({**call, "id": 8}))
    migrate(engine)
    with engine.connect() as connection:
        total = connection.execute(tables_of(engine)["model_call_totals"].select()).one()
    assert total._mapping == {
        "purpose": call["purpose"], "outcome": call["outcome"],
        "calls": 2, "tokens_in": 14, "tokens_out": 14, "seconds": 15.0, "cost": 15.0,
    }  # fmt: skip


def test_two_processes_may_upgrade_one_empty_database_at_once(server):
    """Each in a thread of its own, through an engine of its own, as two replicas would."""
    from concurrent.futures import ThreadPoolExecutor

    engines = [connect(server.url) for _ in range(4)]
    with engines[0].begin() as connection:
        connection.execute(sa.text("drop schema public cascade"))
        connection.execute(sa.text("create schema public"))
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(migrate, engine) for engine in engines]:
            done.result()
    assert "diagnoses" in tables_of(engines[0])
    for engine in engines:
        engine.dispose()
