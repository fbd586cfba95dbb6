"""Who is taken for dead, on both databases, with clocks that are an hour apart."""

import asyncio
import time

import pytest

from app.errors import StoreError
from app.store.database import connect
from app.store.executors import Executors
from app.store.migrate import migrate
from app.store.threads import StoreThreads
from app.work.presence import MISSED, Presence

HOUR = 3600.0
SKEWS = {"one": 0.0, "early": -HOUR, "late": HOUR}


class Takers:
    """Stands for the book: who was taken over, by whom."""

    def __init__(self, name: str, taken: list[tuple[str, str]]) -> None:
        self._name = name
        self._taken = taken

    async def take_over(self, executors) -> None:
        self._taken += [(self._name, each) for each in executors]


class Fleet:
    """Processes that share a database, each with a clock of its own."""

    def __init__(self, engine) -> None:
        self.taken: list[tuple[str, str]] = []
        self.threads = StoreThreads()
        self.tables = {
            name: Executors(engine, lambda skew=skew: time.time() + skew)
            for name, skew in SKEWS.items()
        }
        self.members = {
            name: Presence(name, table, self.threads, Takers(name, self.taken))
            for name, table in self.tables.items()
        }

    async def beat(self, *names: str, times: int = 1) -> None:
        for _ in range(times):
            for name in names:
                await self.members[name].look()


@pytest.fixture
def fleet(each_database):
    engine = connect(each_database)
    migrate(engine)
    found = Fleet(engine)
    yield found
    found.threads.close()
    engine.dispose()


def test_nobody_who_lives_is_taken_for_dead_however_its_clock_stands(fleet):
    asyncio.run(fleet.beat(*SKEWS, times=3 * MISSED))
    assert fleet.taken == []


@pytest.mark.parametrize("dead", ["early", "late"])
def test_who_is_dead_is_taken_over_once_however_its_clock_stood(fleet, dead):
    living = [name for name in SKEWS if name != dead]

    async def story():
        await fleet.beat(*SKEWS, times=2)
        await fleet.beat(*living, times=MISSED - 1)
        early = list(fleet.taken)
        await fleet.beat(*living, times=2 * MISSED)
        return early

    assert asyncio.run(story()) == []
    assert {each for _, each in fleet.taken} == {dead}
    assert len(fleet.taken) <= len(living)


def test_who_left_in_order_is_taken_over_at_once(fleet):
    async def story():
        await fleet.beat("one", "late")
        await fleet.members["late"].leave()
        await fleet.beat("one")

    asyncio.run(story())
    assert fleet.taken == [("one", "late")]


def test_nobody_is_dead_because_the_database_was_away_from_all(fleet):
    def away():
        raise StoreError("the database is away")

    async def story():
        await fleet.beat("one", "late", times=2)
        known, fleet.tables["one"].beats = fleet.tables["one"].beats, away
        for _ in range(2 * MISSED):
            with pytest.raises(StoreError):
                await fleet.members["one"].look()
        fleet.tables["one"].beats = known
        await fleet.beat("one", "late", times=2)

    asyncio.run(story())
    assert fleet.taken == []
