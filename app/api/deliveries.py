"""What listeners were told, and what they would not take."""

from datetime import datetime
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import JSONResponse, Response

from app.api.forms import Id
from app.api.problems import declared
from app.api.routes import ServiceOf
from app.moment import in_utc
from app.store.deliveries import Delivery

router = APIRouter(prefix="/v1/deliveries", tags=["webhooks"])

DeliveryId = Annotated[str, StringConstraints(pattern=r"^dl_[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
Status = Literal["pending", "sent", "dead"]


class DeliveryOut(BaseModel):
    """A message to one listener about one answer; `dead` ones are not tried any more."""

    id: DeliveryId
    diagnosis_id: Id
    revision: int
    listener: str
    host: str = Field(description="of its URL, which itself may be a secret")
    status: Status
    tries: int
    last_error: str | None
    created_at: datetime
    ended_at: datetime | None


class DeliveryPage(BaseModel):
    """A part of the list; `next` is the cursor of the part below it."""

    items: tuple[DeliveryOut, ...]
    next: DeliveryId | None


class DeliveryQuery(BaseModel):
    """Which deliveries to list."""

    model_config = ConfigDict(extra="forbid")
    status: Status | None = None
    cursor: DeliveryId | None = None
    limit: int = Field(default=50, ge=1, le=200)


@router.get("", responses={200: {"model": DeliveryPage}, **declared(401, 403, 422, 429, 500, 503)})
async def list_deliveries(query: Annotated[DeliveryQuery, Query()], service: ServiceOf) -> Response:
    """List what listeners were to be told, the newest first."""
    found = await service.listeners.page(query.status, query.cursor, query.limit + 1)
    shown = found[: query.limit]
    more = len(found) > len(shown)
    items = [_of(delivery) for delivery in shown]
    return JSONResponse({"items": items, "next": shown[-1].id if more else None})


@router.post(
    "/{id}/retry",
    responses={200: {"model": DeliveryOut}, **declared(401, 403, 404, 429, 500, 503)},
)
async def retry_delivery(id: str, service: ServiceOf) -> Response:
    """Try a dead delivery again, at once; others are left as they are."""
    return JSONResponse(_of(await service.listeners.retry(id)))


def _of(delivery: Delivery) -> dict[str, object]:
    return {
        "id": delivery.id,
        "diagnosis_id": delivery.diagnosis_id,
        "revision": delivery.revision,
        "listener": delivery.listener,
        "host": urlsplit(delivery.url).hostname or "",
        "status": delivery.status,
        "tries": delivery.tries,
        "last_error": delivery.last_error,
        "created_at": in_utc(delivery.created_at),
        "ended_at": in_utc(delivery.ended_at) if delivery.ended_at else None,
    }
