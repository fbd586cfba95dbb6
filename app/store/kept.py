"""Keep compressed logs, and which patterns the scans looked for that made them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, insert, select
from sqlalchemy.exc import IntegrityError

from app.store.database import transaction
from app.store.tables import KeptLogRow, ScanRow


@dataclass(frozen=True, slots=True)
class KeptLog:
    """A compressed log, and the patterns that the scan looked for then, in their order."""

    data: bytes
    patterns: tuple[str, ...]


class KeptLogs:
    """The tables of kept logs and scans; all calls block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._scans: dict[str, tuple[str, ...]] = {}

    def know(self, rules: str, patterns: Sequence[str]) -> None:
        """Note which patterns a version of the rules looks for."""
        row = {"rules": rules, "patterns": json.dumps(list(patterns), ensure_ascii=False)}
        try:
            with transaction(self._engine, writes=True) as connection:
                if not _is_known(connection, rules):
                    connection.execute(insert(ScanRow), row)
        except IntegrityError:  # another process was faster
            with transaction(self._engine) as connection:
                if not _is_known(connection, rules):
                    raise

    def find(self, ids: Sequence[str]) -> dict[str, KeptLog]:
        """Give those that are kept, with known patterns."""
        query = select(KeptLogRow.diagnosis_id, KeptLogRow.rules, KeptLogRow.data)
        with transaction(self._engine) as connection:
            rows = connection.execute(query.where(KeptLogRow.diagnosis_id.in_(ids))).all()
            scans = {rules: self._patterns(connection, rules) for _, rules, _ in rows}
        return {id: KeptLog(data, scans[rules]) for id, rules, data in rows if scans[rules]}

    def known(self, ids: Sequence[str]) -> set[str]:
        """Say which of these are kept; of a hundred that are, the bytes fill the memory."""
        query = select(KeptLogRow.diagnosis_id).where(KeptLogRow.diagnosis_id.in_(ids))
        with transaction(self._engine) as connection:
            return set(connection.execute(query).scalars())

    def _patterns(self, connection: Connection, rules: str) -> tuple[str, ...]:
        if rules not in self._scans:
            found = connection.execute(select(ScanRow.patterns).where(ScanRow.rules == rules))
            text = found.scalar()
            if text is None:
                return ()
            self._scans[rules] = tuple(json.loads(text))
        return self._scans[rules]


def _is_known(connection: Connection, rules: str) -> bool:
    found = connection.execute(select(ScanRow.rules).where(ScanRow.rules == rules))
    return found.scalar() is not None


def keep(connection: Connection, id: str, rules: str, data: bytes | None) -> None:
    """Keep the log of an answer, in the place of what was kept, within its transaction.

    Where there is nothing to be kept, what was kept is of another log and goes all the same.
    """
    connection.execute(delete(KeptLogRow).where(KeptLogRow.diagnosis_id == id))
    if data:
        connection.execute(insert(KeptLogRow).values(diagnosis_id=id, rules=rules, data=data))
