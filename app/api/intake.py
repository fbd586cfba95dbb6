"""Take a request for a diagnosis apart: the log goes to disk, the rest becomes values.

A log may be the body itself, in which case it is written to disk as it arrives and kept as it was
sent, or be named or contained in a JSON document, which is small and read whole.
"""

from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace

from fastapi import Request

from app.api.document import body_of, check_length, parsed
from app.api.forms import DiagnosisRequest, LogAtUri, LogAtUris, RawQuery
from app.api.problems import Unsupported
from app.errors import SourceError
from app.model import Job
from app.service import Service
from app.store.diagnoses import Origin

_RAW = ("", "text/plain", "application/octet-stream")
_FIRST_BYTES = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}


@dataclass(frozen=True, slots=True)
class Intake:
    """A request taken apart."""

    job: Job
    origins: list[Origin]
    callback_url: str | None


async def read(request: Request, query: RawQuery, service: Service) -> Intake:
    """Read a whole request; when this returns an uploaded log is on the disk."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if kind == "application/json":
        if encoding != "identity":
            raise Unsupported("Content-Encoding is for a log as the body, not for JSON")
        return await _from_json(request, query, service)
    if kind not in _RAW:
        raise Unsupported(
            f"a body of {kind!r} is not taken; send application/json, or the log itself as "
            "text/plain or application/octet-stream (curl: -H 'Content-Type: text/plain')"
        )
    if encoding not in ("identity", *_FIRST_BYTES):
        raise Unsupported(f"Content-Encoding {encoding!r} is not known; use gzip, zstd or none")
    check_length(request, service.settings.max_upload_bytes)
    upload = await service.intake.receive(_checked(request.stream(), encoding))
    return Intake(query.job(), [upload], query.callback_url)


async def _from_json(request: Request, query: RawQuery, service: Service) -> Intake:
    form = parsed(await body_of(request), DiagnosisRequest)
    log = form.log
    if isinstance(log, LogAtUri):
        origins: list[Origin] = [await service.intake.place(log.uri)]
    elif isinstance(log, LogAtUris):
        origins = [await service.intake.place(uri) for uri in log.uris]
    else:
        origins = [await service.intake.receive(_once(log.text.encode()))]
    job = _joined(query.job(), form.job.job())
    return Intake(job, origins, form.callback_url or query.callback_url)


def _joined(by_query: Job, by_body: Job) -> Job:
    """Let the query fill in what the body leaves open."""
    told = {name: value for name, value in asdict(by_body).items() if value not in (None, ())}
    return replace(by_query, **told)


async def _checked(chunks: AsyncIterator[bytes], encoding: str) -> AsyncIterator[bytes]:
    """Pass a body on; refuse one that is not compressed as its header says."""
    expected = _FIRST_BYTES.get(encoding, b"")
    head = b""
    async for chunk in chunks:
        if len(head) < len(expected):
            head += chunk[: len(expected)]
            if not (head.startswith(expected) or expected.startswith(head)):
                raise SourceError(f"the body is not {encoding}, as Content-Encoding says")
        yield chunk


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
