"""Jobs and hosts over all stored verdicts."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as InPath
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from app.api.forms import Id
from app.api.problems import declared
from app.api.routes import ServiceOf
from app.errors import NotFound
from app.moment import in_utc
from app.store.ledger import HostCount

router = APIRouter(prefix="/v1", tags=["jobs and hosts"])

Name = Annotated[str, InPath(max_length=256, pattern=r"^[^\x00]*$")]
_FAULTS = declared(401, 403, 404, 422, 429, 500, 503)
_NO_CLUSTER = "-"  # stands in a path for what was reported without a cluster


class AttemptOut(BaseModel):
    """One attempt with its present verdict."""

    diagnosis_id: Id
    attempt: int | None
    status: str
    cause: str | None
    action: str | None
    restart: bool | None
    confidence: str | None
    summary: str | None
    fingerprint: str | None = Field(description="the same for the same fault")
    last_step: int | None
    created_at: datetime
    started_at: float | None
    ended_at: float | None


class RetryOut(BaseModel):
    """Whether the job should be tried again, from all its attempts."""

    stop: bool
    same_fault: int = Field(description="last attempts that failed alike, without progress")
    budget: int
    why: str


class JobOut(BaseModel):
    """The attempts of a job, the oldest first."""

    cluster: str
    job_id: str
    attempts: tuple[AttemptOut, ...]
    retry: RetryOut


class BlameOut(BaseModel):
    """One diagnosis that suspects the host."""

    diagnosis_id: Id
    job_id: str | None
    cause: str
    is_hardware: bool
    created_at: datetime


class NodeOut(BaseModel):
    """What is held against a host."""

    cluster: str
    host: str
    flagged: bool = Field(description="different jobs failed on it for hardware reasons")
    hardware_jobs: int
    diagnoses: tuple[BlameOut, ...]


class FlaggedOut(BaseModel):
    """A host on which different jobs failed for hardware reasons."""

    host: str
    diagnoses: int
    hardware_jobs: int


class NodesOut(BaseModel):
    """The flagged hosts of one cluster; `exclude` is for `sbatch --exclude`."""

    cluster: str
    flagged: tuple[FlaggedOut, ...]
    exclude: str


@router.get("/jobs/{cluster}/{job_id}", responses={200: {"model": JobOut}, **_FAULTS})
async def read_job(cluster: Name, job_id: Name, service: ServiceOf) -> Response:
    """Read the attempts of a job, and whether another one makes sense (cluster `-`: none)."""
    found = await service.ledger.job(_named(cluster), job_id)
    if not found.attempts:
        raise NotFound(f"no diagnosis of job {job_id[:64]!r} in cluster {cluster[:64]!r}")
    attempts = [_timed(asdict(each)) for each in found.attempts]
    told = {"attempts": attempts, "retry": asdict(found.retry)}
    return JSONResponse({"cluster": cluster, "job_id": job_id, **told})


@router.get("/nodes/{cluster}", responses={200: {"model": NodesOut}, **_FAULTS})
async def list_flagged(cluster: Name, service: ServiceOf) -> Response:
    """List the hosts of a cluster on which different jobs failed for hardware reasons."""
    flagged = await service.ledger.flagged(_named(cluster))
    told = {"flagged": [asdict(each) for each in flagged], "exclude": _joined(flagged)}
    return JSONResponse({"cluster": cluster, **told})


@router.get("/nodes/{cluster}/{host}", responses={200: {"model": NodeOut}, **_FAULTS})
async def read_node(cluster: Name, host: Name, service: ServiceOf) -> Response:
    """Read which jobs failed on a host, and with what."""
    found = await service.ledger.host(_named(cluster), host)
    diagnoses = [_timed(asdict(each)) for each in found.blames]
    told = {"flagged": found.flagged, "hardware_jobs": found.hardware_jobs, "diagnoses": diagnoses}
    return JSONResponse({"cluster": cluster, "host": host, **told})


def _named(cluster: str) -> str:
    return "" if cluster == _NO_CLUSTER else cluster


def _joined(flagged: Sequence[HostCount]) -> str:
    return ",".join(sorted(each.host for each in flagged))


def _timed(told: dict[str, object]) -> dict[str, object]:
    at = told["created_at"]
    assert isinstance(at, float)
    time = in_utc(at)
    return {**told, "created_at": time}
