"""The rules that count: those of the release, and beside them those that were learned here.

What is learned is in the database. Each process writes its folder from there, when it starts, when
something is decided here, and when it sees that another process decided; then its workers load the
rules anew between two logs. All methods but `open` belong to the event loop.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog
from sqlalchemy import Engine

from app.errors import RulebookError, UsageError
from app.learn.draft import looks_for
from app.learn.shelf import Shelf, fill, unfitness
from app.rulebook.load import load
from app.rulebook.rulebook import Rulebook
from app.settings import Settings
from app.store.kept import KeptLogs
from app.store.proposals import Proposal, Proposals, State, Written
from app.store.threads import StoreThreads

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Counting:
    """The rulebook that counts; `unfit` are learned rules that cannot be loaded, and why."""

    rulebook: Rulebook
    learned: frozenset[str]
    unfit: Mapping[str, str]


class LearnedRules:
    """Proposals, what becomes of them, and the folder of those that count."""

    def __init__(self, settings: Settings, engine: Engine, threads: StoreThreads) -> None:
        self._settings = settings
        self._proposals = Proposals(engine)
        self._kept = KeptLogs(engine)
        self._threads = threads
        self._approved: Mapping[str, str] | None = None
        self._unfit: Mapping[str, str] = {}
        self._book: Rulebook | None = None
        self._turn = asyncio.Lock()
        self._renew: Callable[[str], None] = lambda _: None

    def open(self) -> None:
        """Write the folder before the workers start; blocks. Raises RulebookError, StoreError."""
        approved = self._proposals.approved()
        if approved or self._settings.learned_dir.exists():
            self._unfit = self._fill(approved).unfit
        self._approved = approved

    def on_change(self, renew: Callable[[str], None]) -> None:
        """Name what is called with the new version after a change."""
        self._renew = renew

    async def page(self, state: State | None, before: str | None, limit: int) -> list[Proposal]:
        """List proposals, the newest first."""
        return await self._threads.run(self._proposals.page, state, before, limit)

    async def find(self, id: str) -> Proposal:
        """Read one; raise NotFound."""
        return await self._threads.run(self._proposals.find, id)

    async def keep(self, feedback_id: int, diagnosis_id: str, written: Written) -> str | None:
        """Keep what was written; approve it where the settings say so and it passes its gates.

        What a person has rejected or withdrawn before waits for a person again.
        """
        down = await self._threads.insist(
            self._proposals.decided, written.cause, "rejected", "withdrawn"
        )
        id = await self._threads.insist(self._proposals.add, feedback_id, diagnosis_id, written)
        is_new = looks_for(written.text) not in {looks_for(one.written.text) for one in down}
        if id and written.passes and is_new and self._settings.rule_approval == "automatic":
            await self.decide(id, "approved", "automatic", "")
        return id

    async def decide(self, id: str, state: State, by: str, note: str) -> Proposal:
        """Approve, reject or withdraw; raise NotFound, or UsageError where that cannot be."""
        if state == "approved":
            await self._check(await self.find(id))
        decided = await self._threads.run(self._proposals.decide, id, state, by, note)
        log.info("rule decided", proposal_id=id, name=decided.written.name, state=state, by=by)
        await self.tend()
        return decided

    async def tend(self) -> None:
        """Take up what was decided, here or in another process."""
        async with self._turn:
            approved = await self._threads.run(self._proposals.approved)
            if approved == self._approved:
                return
            try:
                shelf = await asyncio.to_thread(self._fill, approved)
            except RulebookError as error:
                log.error("learned rules not taken up", detail=str(error))
                return
            self._approved, self._unfit, self._book = approved, shelf.unfit, None
            self._renew(shelf.rules)
            log.info("rules changed", rules=shelf.rules, learned=sorted(approved))

    async def counting(self) -> Counting:
        """Give the rules that count."""
        if self._book is None:
            self._book = await asyncio.to_thread(
                load, self._settings.rules_dir, self._settings.cache_dir, self._settings.learned_dir
            )
        fit = frozenset(self._approved or ()) - frozenset(self._unfit)
        return Counting(self._book, fit, self._unfit)

    async def _check(self, proposal: Proposal) -> None:
        written = proposal.written
        beside = {**(self._approved or {}), written.name: written.text}
        told = await asyncio.to_thread(
            unfitness, self._settings.rules_dir, beside, self._settings.cache_dir
        )
        if written.name in told:
            raise UsageError(f"it does not fit the rules of now: {told[written.name]}")

    def _fill(self, approved: Mapping[str, str]) -> Shelf:
        settings = self._settings
        shelf = fill(settings.rules_dir, settings.learned_dir, approved, settings.cache_dir)
        for name, why in shelf.unfit.items():
            log.warning("a learned rule is left out", name=name, detail=why)
        self._kept.know(shelf.rules, shelf.patterns)
        return shelf
