"""Which patterns a scan looked for is noted once, in however many processes at a time."""

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from app.store import kept
from app.store.database import connect, transaction
from app.store.kept import KeptLogs
from app.store.migrate import migrate
from app.store.tables import ScanRow


@pytest.fixture
def engine(tmp_path):
    engine = connect(f"sqlite:///{tmp_path / 'f.db'}")
    migrate(engine)
    return engine


def test_a_process_that_was_faster_is_no_fault(engine, monkeypatch):
    with transaction(engine, writes=True) as connection:
        connection.execute(insert(ScanRow).values(rules="sha256:1", patterns="[]"))
    answers = iter([False, True])  # not there when looked at first, then there
    monkeypatch.setattr(kept, "_is_known", lambda *_: next(answers))
    KeptLogs(engine).know("sha256:1", ["pump"])
    assert next(answers, None) is None


def test_what_cannot_be_noted_for_another_reason_is_told(engine, monkeypatch):
    with transaction(engine, writes=True) as connection:
        connection.execute(insert(ScanRow).values(rules="sha256:1", patterns="[]"))
    monkeypatch.setattr(kept, "_is_known", lambda *_: False)
    with pytest.raises(IntegrityError):
        KeptLogs(engine).know("sha256:1", ["pump"])
