"""Tell a listener how a diagnosis goes, as server-sent events.

`status` whenever the status changes, `progress` while the log is read, `end` once it has ended,
after which the stream closes.
"""

from collections.abc import AsyncIterator

from fastapi.sse import ServerSentEvent
from pydantic import BaseModel

from app.service import Service


class Told(BaseModel):
    """The data of each event."""

    id: str
    status: str
    progress: float


async def of_diagnosis(service: Service, id: str) -> AsyncIterator[ServerSentEvent]:
    """Follow one diagnosis from where it is to its end."""
    status = None
    async for state in service.watch(id):
        told = Told(id=id, status=state.status, progress=round(state.progress, 4))
        ended = state.status in ("complete", "failed")
        if state.status != status:
            status = state.status
            yield ServerSentEvent(event="status", data=told)
        elif not ended:
            yield ServerSentEvent(event="progress", data=told)
        if ended:
            yield ServerSentEvent(event="end", data=told)
