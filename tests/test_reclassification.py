"""Runs of the service that go wrong: each of them ends, and says why."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from app.errors import StoreError
from app.service import reclassification
from app.service.reclassification import Reclassification
from app.settings import Settings
from app.store.database import connect
from app.store.migrate import migrate
from app.store.reclassifications import Reclassifications
from app.store.run import Chosen
from app.store.threads import StoreThreads
from app.work.durable import Standing
from app.work.roots import LogRoots
from tests.small_rules import write_rules


class _Book:
    """A book of durable work that knows nothing, or that gave up all that it knows."""

    def __init__(self, *, is_gone: bool = False, lost: bool = False) -> None:
        self.entrusted: list[str] = []
        self._is_gone = is_gone
        self._lost = lost

    def offer(self, kind) -> None:
        self.run = kind.run

    async def entrust(self, kind: str, id: str, *texts: str) -> None:
        if self._is_gone:
            raise StoreError("the book is gone")
        self.entrusted.append(id)

    async def standing(self, kind: str, ids) -> Standing:
        known = frozenset(ids)
        return Standing(frozenset(), known) if self._lost else Standing(known, frozenset())


@pytest.fixture
def opened(tmp_path):
    """Opens the service's runs over a database without diagnoses, beside a book."""
    rules = write_rules(tmp_path / "rules")
    engine = connect(f"sqlite:///{tmp_path / 'f.db'}")
    migrate(engine)

    @asynccontextmanager
    async def open_with(book):
        settings = Settings(data_dir=tmp_path, cache_dir=tmp_path / "cache", rules_dir=rules)
        threads = StoreThreads()
        yield Reclassification(settings, engine, threads, book, LogRoots(()))
        threads.close()

    open_with.runs = Reclassifications(engine)
    return open_with


@pytest.mark.parametrize("fault", [OSError("cannot fork"), ValueError("a \0 in the text")])
def test_what_nobody_foresaw_ends_the_run_with_its_words(opened, monkeypatch, fault):
    def breaks(*_args, **_more):
        raise fault

    async def story():
        book = _Book()
        async with opened(book) as runs:
            run = await runs.begin(Chosen(), applies=False)
            await book.run(run.id)
            return await runs.find(run.id)

    monkeypatch.setattr(reclassification, "go_on", breaks)
    ended = asyncio.run(story())
    assert ended.status == "failed"
    assert ended.fault == f"{type(fault).__name__}: {fault}".replace("\0", "\\0")


def test_a_run_that_the_book_gave_up_is_closed_and_not_again_when_it_is_resumed(opened):
    async def story():
        async with opened(_Book(lost=True)) as runs:
            run = await runs.begin(Chosen(), applies=False)
            await runs.tend()
            closed = await runs.find(run.id)
            opened.runs.reopen(run.id)
            await runs.tend()
            return closed, await runs.find(run.id)

    closed, resumed = asyncio.run(story())
    assert closed.status == "failed"
    assert "the log of the service tells more" in (closed.fault or "")
    assert (resumed.status, resumed.driver) == ("running", "command")


def test_a_run_that_is_written_is_accepted_although_the_book_is_gone(opened):
    async def story():
        async with opened(_Book(is_gone=True)) as runs:
            return await runs.begin(Chosen(), applies=False)

    run = asyncio.run(story())

    async def later():
        book = _Book()
        async with opened(book) as runs:
            await runs.tend()
        return book.entrusted

    assert asyncio.run(later()) == [run.id]
