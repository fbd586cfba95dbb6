"""Write how a diagnosis ended, within a transaction of the caller.

A diagnosis has one present answer. A later one (a fuller log, other rules, a model) takes its
place, and the one before is kept with the reason. Hosts under suspicion are those of the present
answer.
"""

import time
from dataclasses import fields

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from app.store.incidents import remember
from app.store.kept import keep
from app.store.outcome import Blame, Fault, Outcome
from app.store.tables import BlameRow, PastVerdictRow
from app.store.tables import DiagnosisRow as Row

_BY_ID = Row.id == bindparam("id_")
_FINISH = update(Row).where(_BY_ID, Row.status.in_(("queued", "waiting")))
_REPLACE = update(Row).where(_BY_ID, Row.revision == bindparam("revision_"))
_KEPT = ("cause", "action", "method", "rules", "answer", "digest")
_PRESENT = select(
    Row.id.label("diagnosis_id"), Row.revision, Row.finished_at, Row.cluster,
    *(getattr(Row, name) for name in _KEPT),
).where(_BY_ID, Row.status.in_(("complete", "failed")))  # fmt: skip
_CLUSTER = select(Row.cluster).where(_BY_ID)
_BESIDE = ("remembered", "blames", "kept", "seconds")  # of an outcome, not of its row


def finish(connection: Connection, id: str, result: Outcome | Fault) -> bool:
    """Write the first answer; False, and no change, where there is one."""
    now = time.time()
    values = _of_fault(result) if isinstance(result, Fault) else _of_outcome(result)
    status = "failed" if isinstance(result, Fault) else "complete"
    ended = connection.execute(_FINISH, {**values, "id_": id, "status": status, "finished_at": now})
    if not ended.rowcount:
        return False
    if isinstance(result, Outcome):
        remember(connection, id, result, now)
        keep(connection, id, result.rules, result.kept)
        cluster = connection.execute(_CLUSTER, {"id_": id}).scalar_one()
        _blame(connection, id, cluster, result.blames, result.cause)
    return True


def replace(
    connection: Connection, id: str, outcome: Outcome, why: str, *, of: int | None = None
) -> int | None:
    """Put an answer in the place of the present one, if that is still the revision `of`.

    Gives its revision, None where nothing was replaced.
    """
    present = connection.execute(_PRESENT, {"id_": id}).one_or_none()
    if present is None or of not in (None, present.revision):
        return None
    now, old = time.time(), present._mapping
    values = {
        **_of_outcome(outcome), "status": "complete", "finished_at": now,
        "fault_kind": None, "fault_status": None, "fault_detail": None,
        "id_": id, "revision_": old["revision"], "revision": old["revision"] + 1,
    }  # fmt: skip
    if not connection.execute(_REPLACE, values).rowcount:
        return None  # another process was faster
    past = {name: value for name, value in old.items() if name != "cluster"}
    connection.execute(insert(PastVerdictRow).values(**past, replaced_at=now, why=why[:256]))
    connection.execute(delete(BlameRow).where(BlameRow.diagnosis_id == id))
    _blame(connection, id, old["cluster"], outcome.blames, outcome.cause)
    remember(connection, id, outcome, now)
    if outcome.kept is not None:
        keep(connection, id, outcome.rules, outcome.kept)
    return int(old["revision"]) + 1


def _blame(
    connection: Connection, id: str, cluster: str | None, blames: tuple[Blame, ...], cause: str
) -> None:
    rows = [
        {
            "diagnosis_id": id, "host": blame.host, "cluster": cluster,
            "cause": cause, "is_hardware": blame.is_hardware,
        }
        for blame in blames
    ]  # fmt: skip
    if rows:
        connection.execute(insert(BlameRow), rows)


def _of_outcome(outcome: Outcome) -> dict[str, object]:
    names = (field.name for field in fields(outcome) if field.name not in _BESIDE)
    return {name: getattr(outcome, name) for name in names}


def _of_fault(fault: Fault) -> dict[str, object]:
    return {
        "fault_kind": fault.kind,
        "fault_status": fault.status,
        "fault_detail": fault.detail,
    }
