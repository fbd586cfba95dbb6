"""Tell listeners what a diagnosis came to: planned in the database, tried until it is taken.

A message about one answer goes to one listener once, though it may arrive twice: where the service
died between the listener's thanks and its own note of them. Listeners tell the two apart by their
webhook-id, which is that of the delivery.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence

import structlog

from app.errors import NotDelivered, UsageError
from app.notify.guard import checked, target
from app.notify.message import Answer, body
from app.notify.send import send
from app.settings import Listener, Settings
from app.store.deliveries import Deliveries, Delivery
from app.store.diagnoses import Diagnoses, Record
from app.store.threads import StoreThreads
from app.work import journal
from app.work.durable import Durable, Kind
from app.work.timings import Timings

# Seconds from one try to the next, after the example of the Standard Webhooks specification.
_PAUSES = (5, 300, 1800, 7200, 18_000, 36_000, 36_000)
_CALLBACK = "callback"
_DELIVER = "deliver"
_AT_ONCE = 32

log = structlog.get_logger()


class Listeners:
    """Those who want to know; all methods belong to the event loop."""

    def __init__(
        self,
        settings: Settings,
        deliveries: Deliveries,
        diagnoses: Diagnoses,
        threads: StoreThreads,
        durable: Durable,
        timings: Timings,
    ) -> None:
        self.tries: Counter[tuple[str, str]] = Counter()  # by listener and what came of it
        self._timings = timings
        self._settings = settings
        self._deliveries = deliveries
        self._diagnoses = diagnoses
        self._threads = threads
        self._durable = durable
        durable.offer(Kind(_DELIVER, self._deliver, at_once=_AT_ONCE, glance_seconds=0.2))

    async def dead(self) -> int:
        """Count the messages that nobody took."""
        return (await self._threads.run(self._deliveries.counts)).get("dead", 0)

    def check(self, url: str) -> str:
        """Give back a callback URL that may be used; raise UsageError for another."""
        return checked(url, self._settings.callback_hosts)

    async def announce(self, id: str) -> None:
        """Plan the messages about the present answer of a diagnosis, and have them sent."""
        record = await self._threads.insist(self._diagnoses.find, id)
        if record.status not in ("complete", "failed"):
            return
        for name, url, form in self._addressees(record):
            planned = await self._threads.insist(
                self._deliveries.plan, id, record.revision, name, url, form
            )
            await self._durable.entrust(_DELIVER, f"{planned}:0", planned)

    async def tend(self) -> None:
        """Enter into the book what is to be sent and not there."""
        for id, tries in await self._threads.run(self._deliveries.pending):
            pause = _PAUSES[tries - 1] if tries else 0
            await self._durable.entrust(_DELIVER, f"{id}:{tries}", id, delay_seconds=pause)

    async def page(self, status: str | None, before: str | None, limit: int) -> Sequence[Delivery]:
        """List deliveries, the newest first."""
        return await self._threads.run(self._deliveries.page, status, before, limit)

    async def retry(self, id: str) -> Delivery:
        """Have a dead delivery tried again at once; raise NotFound."""
        revived = await self._threads.run(self._deliveries.revive, id)
        if revived.status == "pending":
            await self._durable.entrust(_DELIVER, f"{id}:again:{time.time_ns()}", id)
        return revived

    def _addressees(self, record: Record) -> list[tuple[str, str, str]]:
        answer = _answer(record)
        found: list[tuple[str, str, str]] = [
            (each.name, each.url.get_secret_value(), each.form)
            for each in self._settings.listeners
            if wants(each, answer)
        ]
        if record.callback_url:
            found.append((_CALLBACK, record.callback_url, "json"))
        return found

    async def _deliver(self, id: str) -> None:
        delivery = await self._threads.insist(self._deliveries.find, id)
        if delivery.status != "pending":
            return
        request = await self._threads.insist(self._diagnoses.request, delivery.diagnosis_id)
        with journal.about(delivery.diagnosis_id, request.request_id if request else None):
            await self._try(delivery)

    async def _try(self, delivery: Delivery) -> None:
        began = time.monotonic()
        try:
            await self._send(delivery)
        except (NotDelivered, UsageError) as error:
            await self._failed(
                delivery, str(error), isinstance(error, NotDelivered) and error.final
            )
            return
        finally:
            self._timings.note("deliver", time.monotonic() - began)
        await self._threads.insist(self._deliveries.sent, delivery.id)
        self.tries[delivery.listener, "sent"] += 1
        log.info("delivered", delivery_id=delivery.id, listener=delivery.listener)

    async def _send(self, delivery: Delivery) -> None:
        record = await self._threads.insist(self._diagnoses.find, delivery.diagnosis_id)
        listener = self._named(delivery.listener)
        private = listener is not None or self._settings.callback_private
        where = await asyncio.to_thread(target, delivery.url, private=private)
        text = body(_answer(record), "slack" if delivery.form == "slack" else "json", time.time())
        await send(where, text, id=delivery.id, secret=self._secret(listener))

    async def _failed(self, delivery: Delivery, reason: str, final: bool) -> None:
        last = final or delivery.tries >= len(_PAUSES)
        self.tries[delivery.listener, "dead" if last else "failed"] += 1
        tries = await self._threads.insist(self._deliveries.failed, delivery.id, reason, final=last)
        told = {"delivery_id": delivery.id, "listener": delivery.listener, "detail": reason}
        if last:
            log.error("delivery is dead", tries=tries, **told)
            return
        log.warning("not delivered", tries=tries, **told)
        await self._durable.entrust(
            _DELIVER, f"{delivery.id}:{tries}", delivery.id, delay_seconds=_PAUSES[tries - 1]
        )

    def _named(self, name: str) -> Listener | None:
        return next((each for each in self._settings.listeners if each.name == name), None)

    def _secret(self, listener: Listener | None) -> str | None:
        if listener is not None and listener.secret is not None:
            return listener.secret.get_secret_value()
        secrets = self._settings.webhook_secrets
        return secrets[0].get_secret_value() if secrets else None


def wants(listener: Listener, answer: Answer) -> bool:
    """Say whether a listener wants to know of such an answer; no filter lets all through."""
    primary, job = answer.get("primary"), answer.get("job")
    told = primary if isinstance(primary, dict) else {}
    cluster = job.get("cluster") if isinstance(job, dict) else None
    wanted = (
        (listener.causes, told.get("cause")),
        (listener.domains, told.get("domain")),
        (listener.confidences, told.get("confidence")),
        (listener.clusters, cluster),
    )
    return all(not names or value in names for names, value in wanted)


def _answer(record: Record) -> Answer:
    if record.answer is not None:
        answer: Answer = json.loads(record.answer)
        return answer
    fault = record.fault
    error = {"kind": fault.kind, "detail": fault.detail} if fault else {"kind": "unknown"}
    return {"id": record.id, "status": record.status, "job": json.loads(record.job), "error": error}
