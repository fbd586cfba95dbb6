"""The second step of a diagnosis: a model is asked where the rules left a doubt.

The first answer is there already and says that it is `refining`. The step is durable work on
lanes of its own, so that a slow model holds up no log that is to be read, and its end, good or bad,
is always an answer that says `complete`. Where the model changes what is said, the first answer is
kept as a past one. All methods belong to the event loop.
"""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import structlog

from app.errors import FirstFaultError, NotFound
from app.store.diagnoses import Diagnoses, Record, Request
from app.store.outcome import Fault, Outcome, is_refining
from app.store.refining import Refining
from app.store.threads import StoreThreads
from app.work import journal, worker
from app.work.durable import USUAL, Durable, Kind
from app.work.folder import shown
from app.work.lane import Lane
from app.work.outcomes import fault_of
from app.work.timings import Timings

_KIND = "refine"
_AHEAD = 2
_GIVEN_UP = Fault("GivenUp", 500, "the call failed; the log of the service tells more")
_WHY = "a language model was asked"

log = structlog.get_logger()


class Second:
    """Refines answers; `write_order` says what a worker is told, `timings` is told how long."""

    def __init__(
        self,
        lanes: Sequence[Lane],
        diagnoses: Diagnoses,
        refining: Refining,
        threads: StoreThreads,
        durable: Durable,
        write_order: Callable[[Request], worker.Order],
        announce: Callable[[str], Awaitable[None]],
        timings: Timings,
        *,
        seconds: float,
    ) -> None:
        self.results: Counter[str] = Counter()  # by what came of it
        self._settled: set[str] = set()  # calls that were given up, and nothing waits for them
        self._lanes: asyncio.Queue[Lane] = asyncio.Queue()
        self._diagnoses = diagnoses
        self._refining = refining
        self._threads = threads
        self._durable = durable
        self._write_order = write_order
        self._announce = announce
        self._timings = timings
        self._seconds = seconds
        self._count_of_lanes = len(lanes)
        for lane in lanes:
            self._lanes.put_nowait(lane)
        durable.offer(Kind(_KIND, self._refine, max(1, len(lanes)) * _AHEAD, glance_seconds=0.5))

    async def begin(self, id: str) -> None:
        """Have an answer refined if it says that it will be; the same answer only once."""
        record = await self._threads.insist(self._diagnoses.find, id)
        if is_refining(record.answer):
            told = (id, str(record.revision))
            await self._durable.entrust(_KIND, ":".join(told), *told, priority=USUAL)

    async def tend(self) -> None:
        """Complete the answers that nobody refines any more, since the book gave them up."""
        for call in await self._durable.lost(_KIND):
            id, _, revision = call.partition(":")
            if call in self._settled:
                continue
            with contextlib.suppress(NotFound):
                record = await self._threads.run(self._diagnoses.find, id)
                if record.revision == int(revision) and is_refining(record.answer):
                    await self._keep(record, _GIVEN_UP)
            self._settled.add(call)

    async def _refine(self, id: str, revision: str) -> None:
        request = await self._threads.insist(self._diagnoses.request, id)
        record = await self._threads.insist(self._diagnoses.find, id)
        if request is None or record.revision != int(revision) or not is_refining(record.answer):
            await self._announce(id)  # a step that was broken off behind its last line
            return
        with journal.about(id, request.request_id):
            try:
                result = await self._asked(request)
                is_other = await self._keep(record, result)
            except Exception as error:  # noqa: BLE001  the edge of a background run, which must end
                log.exception("refining broke", diagnosis_id=id)
                told = shown(f"{type(error).__name__}: {error}")
                is_other = await self._keep(record, Fault("InternalError", 500, told))
            if is_other:
                await self._announce(id)

    async def _asked(self, request: Request) -> Outcome | Fault:
        if not self._count_of_lanes:
            return Fault("NoModel", 500, "no model is configured any more (FIRSTFAULT_MODEL)")
        lane = await self._lanes.get()
        try:
            order = await asyncio.to_thread(self._write_order, request)
            return (await lane.read(order, self._seconds)).result
        except FirstFaultError as error:
            return fault_of(error)
        finally:
            self._lanes.put_nowait(lane)

    async def _keep(self, record: Record, result: Outcome | Fault) -> bool:
        """Keep what came of it; say whether it is another verdict."""
        if isinstance(result, Outcome):
            self._timings.note_all(result.seconds)
        present = _verdict(json.loads(record.answer or "{}"))
        if isinstance(result, Fault):
            log.warning("not refined", diagnosis_id=record.id, detail=result.detail)
            self.results["failed"] += 1
            text = completed(record.answer or "{}", result.detail)
            await self._threads.insist(self._refining.complete, record.id, record.revision, text)
            return False
        if present == _verdict(json.loads(result.answer)):
            self.results["same"] += 1
            await self._threads.insist(self._refining.amend, record.id, record.revision, result)
            return False
        asked = (record.id, result, _WHY, record.revision)
        if await self._threads.insist(self._diagnoses.replace, *asked) is None:
            log.info("not refined: a later answer is there", diagnosis_id=record.id)
            return False
        self.results["changed"] += 1
        log.info("refined", diagnosis_id=record.id, cause=result.cause, method=result.method)
        return True


def completed(answer: str, detail: str) -> str:
    """Give an answer that will not be refined any more, with the reason."""
    told = json.loads(answer)
    note = f"the language model could not be asked: {detail}; this is what rules say"
    return json.dumps(
        {**told, "status": "complete", "remarks": [*told.get("remarks", []), note]},
        ensure_ascii=False,
    )


def _verdict(answer: dict[str, object]) -> tuple[object, ...]:
    """What a reader acts on."""
    primary, recovery = answer.get("primary"), answer.get("recovery")
    told = primary if isinstance(primary, dict) else {}
    return told.get("cause"), told.get("confidence"), recovery
