"""NVIDIA's attribution service, spoken by ours: `POST /logs` and `GET /logs`.

Its clients (`ft_launcher`, `smonsvc`) name a log by its path and look at `recommendation.action`
alone. STOP is said only where a restart cannot help: code, configuration or data must be mended.
Our own answer stands beside theirs, under `firstfault`. Errors have their form here, not ours.
Source: nvidia-resiliency-ext, `services/attrsvc/README.md` and `ATTRSVC_SPEC.md`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from app.api.document import body_of, parsed
from app.api.forms import Text
from app.api.problems import declared
from app.api.routes import ServiceOf
from app.errors import (
    Busy,
    FirstFaultError,
    OutsideRoots,
    SourceError,
    SourceNotFound,
    UsageError,
)
from app.model import Job
from app.store.diagnoses import Record

router = APIRouter(prefix="/logs", tags=["attribution service"])

Action = Literal["STOP", "RESTART", "CONTINUE", "UNKNOWN", "TIMEOUT"]
LogPath = Annotated[str, Field(min_length=1, max_length=4096)]

_FAULTS: tuple[tuple[type[FirstFaultError], str], ...] = (
    (OutsideRoots, "OUTSIDE_ROOT"),
    (SourceNotFound, "NOT_FOUND"),
    (UsageError, "INVALID_PATH"),
    (Busy, "JOB_LIMIT_REACHED"),
    (SourceError, "NOT_READABLE"),
)
_STATUS = {"OUTSIDE_ROOT": 403, "NOT_FOUND": 404, "NOT_READABLE": 403, "JOB_LIMIT_REACHED": 503}
_MENDED = ("fix_code", "fix_config", "fix_data")
_RESUME = {"STOP": "STOP - DONT RESTART IMMEDIATE", "RESTART": "RESTART IMMEDIATE"}


class LogSubmission(BaseModel):
    """A log that is or will be written."""

    model_config = ConfigDict(extra="ignore")
    log_path: LogPath
    user: Text
    job_id: Text | None = None
    cycle_id: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    analysis_intent: Literal["track_only", "progressive", "terminal"] = "terminal"


class LogQuery(BaseModel):
    """Which log, and how long to wait."""

    model_config = ConfigDict(extra="ignore")
    log_path: LogPath
    file: str | None = None
    wl_restart: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    wait: Annotated[float, Field(ge=0, le=600)] = 0.0


class Submitted(BaseModel):
    """What was made of a submission."""

    submitted: Literal[True] = True
    normalized_path: str
    mode: Literal["PENDING", "SINGLE", "SPLITLOG"]
    logs_dir: str | None = None
    sched_restarts: int = 0
    files_analyzed: int | None = None


class Refused(BaseModel):
    """An error of the attribution service."""

    error_code: str
    message: str


_FAULTS_TOLD: dict[int | str, dict[str, object]] = {
    status: {"model": Refused, **told}  # ours are of form, tokens and rate
    for status, told in declared(400, 401, 403, 404, 413, 422, 429, 500, 503).items()
}


@router.post("", responses={200: {"model": Submitted}, **_FAULTS_TOLD})
async def submit(request: Request, service: ServiceOf) -> Response:
    """Submit the log of a job by its path below a log root."""
    told = parsed(await body_of(request), LogSubmission)
    try:
        path = await service.logs.normalized(told.log_path)
        if told.analysis_intent != "track_only":
            job = Job(job_id=told.job_id, attempt=told.cycle_id, user=told.user)
            await service.logs.ask(path, job)
    except FirstFaultError as error:
        return _refused(error)
    said = Submitted(
        normalized_path=str(path),
        mode="PENDING" if told.analysis_intent == "track_only" else _mode(path),
        logs_dir=str(path) if path.is_dir() else None,
        files_analyzed=None if told.analysis_intent == "track_only" else 1,
    )
    return JSONResponse(said.model_dump())


@router.get("", responses=_FAULTS_TOLD)
async def result(query: Annotated[LogQuery, Query()], service: ServiceOf) -> Response:
    """Ask what a log came to; one that was never submitted is diagnosed now."""
    try:
        path = await service.logs.normalized(query.log_path)
        if query.file:
            path = await service.logs.normalized(str(path / query.file))
        record = await service.logs.ask(path, Job(), query.wait)
    except FirstFaultError as error:
        return _refused(error)
    return JSONResponse({**_told(record, query), "mode": _mode(path), "log_file": str(path)})


def _told(record: Record, query: LogQuery) -> dict[str, object]:
    if record.answer is None:
        return _without_answer(record, query)
    answer = json.loads(record.answer)
    attempts = answer["attempts"]
    chosen, earlier = query.wl_restart, None
    if chosen is not None and chosen < len(attempts):
        earlier = attempts[chosen]
    action = action_of(answer) if earlier is None else "UNKNOWN"
    return {
        "status": "completed",
        "recommendation": {"action": action, "source": "firstfault"},
        "result": _result(answer, action),
        "wl_restart": chosen if chosen is not None else len(attempts),
        "wl_restart_count": len(attempts) + 1,
        "sched_restarts": 0,
        "firstfault": answer,
    }


def _without_answer(record: Record, query: LogQuery) -> dict[str, object]:
    failed = record.status == "failed"
    status = "completed" if failed else "pending" if record.status == "waiting" else "in_flight"
    action: Action = "TIMEOUT" if query.wait and not failed else "UNKNOWN"
    error = {"error": record.fault.detail} if record.fault else {}
    return {
        "status": status,
        "recommendation": {"action": action, "source": "firstfault"},
        "result": {"module": "log_analyzer", "result": [], **error},
        "wl_restart": query.wl_restart or 0,
        "wl_restart_count": None,
        "sched_restarts": 0,
    }


def action_of(answer: Mapping[str, Mapping[str, object]]) -> Action:
    """Put our advice into the words that the clients branch on."""
    recovery = answer["recovery"]
    if recovery["action"] in _MENDED:
        return "STOP"
    if recovery["restart"]:
        return "RESTART"
    return "CONTINUE" if answer["primary"]["cause"] == "Completed" else "UNKNOWN"


def _result(answer: dict[str, dict[str, object]], action: Action) -> dict[str, object]:
    primary, recovery = answer["primary"], answer["recovery"]
    issues = [str(primary["cause"]), *_causes(answer["other_roots"])]
    steps = recovery["steps"]
    why = " ".join(map(str, steps)) if isinstance(steps, list) else ""
    secondary = _causes(answer["explained"])
    told = {
        "raw_text": primary["summary"],
        "auto_resume": _RESUME.get(action, "ERRORS NOT FOUND"),
        "auto_resume_explanation": why,
        "attribution_text": f"Attribution:\nPrimary issues: {json.dumps(issues[:1])},\n"
        f"Secondary issues: {json.dumps(secondary)}",
        "checkpoint_saved_flag": 0,
        "action": action,
        "primary_issues": issues[:1],
        "secondary_issues": [*issues[1:], *secondary],
    }
    return {"module": "log_analyzer", "result": [told], "recommendation": {"action": action}}


def _causes(listed: object) -> list[str]:
    found = listed if isinstance(listed, list) else []
    return [str(each["cause"]) for each in found if isinstance(each, dict)]


def _mode(path: Path) -> Literal["SINGLE", "SPLITLOG"]:
    return "SPLITLOG" if path.is_dir() else "SINGLE"


def _refused(error: FirstFaultError) -> Response:
    code = next((code for kind, code in _FAULTS if isinstance(error, kind)), "INTERNAL_ERROR")
    status = _STATUS.get(code, 400 if isinstance(error, UsageError) else 500)
    return JSONResponse(Refused(error_code=code, message=str(error)).model_dump(), status)
