"""Take what people say of answers, and have rules written where rules missed what they confirm.

A word is kept before its giver hears of it. The writing is durable work of low urgency, one at a
time in a process of its own; without a model the wish is kept until there is one. All methods
belong to the event loop.
"""

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import structlog
from sqlalchemy import Engine

from app.learn import task
from app.learn.task import Later, Surroundings
from app.learn.word import weighed
from app.service.asking import asking
from app.service.rules import LearnedRules
from app.settings import Settings
from app.store.diagnoses import Diagnoses
from app.store.feedback import Feedback, Feedbacks, Score, Word
from app.store.proposals import Written
from app.store.threads import StoreThreads
from app.work.durable import PATIENT, Durable, Kind

_KIND = "write_rule"
_TRIES = 5
_PAUSE_SECONDS = 600.0  # before a model that gave no answer is asked again

log = structlog.get_logger()


class Reviews:
    """What people say of answers."""

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        threads: StoreThreads,
        durable: Durable,
        rules: LearnedRules,
    ) -> None:
        self.score = Score()
        self._settings = settings
        self._feedbacks = Feedbacks(engine)
        self._diagnoses = Diagnoses(engine)
        self._threads = threads
        self._durable = durable
        self._rules = rules
        self._asking = asking(settings)
        durable.offer(Kind(_KIND, self._write, at_once=1, glance_seconds=0.5))

    async def give(
        self, id: str, verdict: Word, cause: str | None, by: str, note: str = ""
    ) -> Feedback:
        """Keep a person's word on an answer.

        Raises NotFound, NotReady, or UsageError for a word that cannot be meant.
        """
        await self._threads.run(self._diagnoses.find, id)
        said = await self._threads.run(self._feedbacks.said, id)
        book = (await self._rules.counting()).rulebook
        given = weighed(id, verdict, cause, by, note, said, book)
        kept = await self._threads.run(self._feedbacks.add, given)
        log.info("feedback", diagnosis_id=id, verdict=verdict, cause=given.cause, by=by)
        await self.tend()
        return kept

    async def of(self, id: str) -> list[Feedback]:
        """List what was said of one diagnosis, the oldest first."""
        return await self._threads.run(self._feedbacks.of, id)

    async def tend(self) -> None:
        """Count anew, and enter into the book what is wished for and not there."""
        self.score = await self._threads.run(self._feedbacks.score)
        if self._asking is None or not self._settings.rule_writer:
            return
        for id in await self._threads.run(self._feedbacks.wanting):
            await self._durable.entrust(_KIND, f"{id}:1", str(id), "1", priority=PATIENT)

    async def _write(self, feedback_id: str, tries: str) -> None:
        """Write a rule, once: a second call finds that it is done."""
        id, number = int(feedback_id), int(tries)
        word = await self._threads.insist(self._feedbacks.find, id)
        if word is None or word.writing != "wanted":
            return
        came = await self._came(id)
        if isinstance(came, Later) and number < _TRIES:
            log.warning("rule written later", diagnosis_id=word.diagnosis_id, detail=came.why)
            told = (feedback_id, str(number + 1))
            await self._durable.entrust(
                _KIND, ":".join(told), *told, priority=PATIENT, delay_seconds=_PAUSE_SECONDS
            )
            return
        note = came.why if isinstance(came, Later) else came
        if isinstance(note, Written):
            kept = await self._rules.keep(id, word.diagnosis_id, note)
            note = f"written as {kept}" if kept else "written before"
        log.info("rule writing ended", diagnosis_id=word.diagnosis_id, detail=note)
        await self._threads.insist(self._feedbacks.done, id, note)

    async def _came(self, feedback_id: int) -> Written | Later | str:
        """Run the writing in a process of its own."""
        where = self._surroundings()
        if where is None:
            return Later("no model is configured")
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=context, initializer=task.set_up) as pool:
            future = pool.submit(task.write, feedback_id, where)
            try:
                return await asyncio.wrap_future(future)
            except BrokenProcessPool:
                return Later("the process that wrote it was killed")

    def _surroundings(self) -> Surroundings | None:
        settings = self._settings
        if self._asking is None:
            return None
        return Surroundings(
            rules=settings.rules_dir.absolute(),
            learned=settings.learned_dir,
            cache=settings.cache_dir.absolute(),
            fixtures=settings.fixtures_dir.absolute(),
            database=settings.database,
            uploads=settings.data_dir.absolute() / "uploads",
            roots=tuple(settings.log_roots),
            asking=self._asking,
            needed=settings.rule_confirmations,
        )
