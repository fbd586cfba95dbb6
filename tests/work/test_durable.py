"""The book of durable work, with DBOS itself and a database file."""

import asyncio

import pytest

from app.errors import StoreError
from app.work.durable import PATIENT, URGENT, Durable, Kind, Standing


def book(folder, name="one") -> Durable:
    return Durable(f"sqlite:///{folder / 'book.db'}", name)


async def until(told) -> None:
    async with asyncio.timeout(10):
        while not told():
            await asyncio.sleep(0.02)


def test_an_entrusted_call_is_made_once_however_often_it_is_entrusted(tmp_path):
    made = []

    async def note(text):
        made.append(text)

    async def story():
        durable = book(tmp_path)
        durable.offer(Kind("note", note, at_once=2))
        await durable.open()
        for _ in range(3):
            await durable.entrust("note", "a", "first")
        await durable.entrust("note", "b", "second")
        await until(lambda: len(made) == 2)
        await durable.entrust("note", "a", "first")
        await asyncio.sleep(0.3)
        await durable.close()

    asyncio.run(story())
    assert sorted(made) == ["first", "second"]


def test_a_call_that_was_under_way_is_made_again_after_a_restart(tmp_path):
    begun = []

    async def hang(text):
        begun.append(text)
        if len(begun) == 1:
            await asyncio.sleep(3600)

    async def story(entrust):
        durable = book(tmp_path)
        durable.offer(Kind("hang", hang, at_once=1))
        await durable.open()
        if entrust:
            await durable.entrust("hang", "a", "it")
        before = len(begun)
        await until(lambda: len(begun) > before)
        await durable.close()

    asyncio.run(story(entrust=True))
    asyncio.run(story(entrust=False))
    assert begun == ["it", "it"]


def test_the_urgent_goes_before_the_patient(tmp_path):
    made = []

    async def note(text):
        made.append(text)

    async def story():
        durable = book(tmp_path)
        durable.offer(Kind("note", note, at_once=1, glance_seconds=0.3))
        await durable.open()
        for text, priority in (("first", URGENT), ("patient", PATIENT), ("urgent", URGENT)):
            await durable.entrust("note", text, text, priority=priority)
        await until(lambda: len(made) == 3)
        await durable.close()

    asyncio.run(story())
    assert made.index("urgent") < made.index("patient")


def test_a_call_can_be_put_off(tmp_path):
    made = []

    async def note(text):
        made.append(asyncio.get_running_loop().time())

    async def story():
        durable = book(tmp_path)
        durable.offer(Kind("note", note, at_once=1))
        await durable.open()
        began = asyncio.get_running_loop().time()
        await durable.entrust("note", "a", "later", delay_seconds=1)
        await until(lambda: made)
        await durable.close()
        return began

    began = asyncio.run(story())
    assert made[0] - began > 0.9


def test_calls_that_fail_and_calls_that_nobody_entrusted_are_told_apart(tmp_path):
    async def fail(text):
        raise ZeroDivisionError(text)

    async def story():
        durable = book(tmp_path)
        durable.offer(Kind("fail", fail, at_once=1))
        await durable.open()
        await durable.entrust("fail", "a", "it")
        async with asyncio.timeout(10):
            while not (standing := await durable.standing("fail", ["a", "b"])).lost:
                await asyncio.sleep(0.05)
        await durable.close()
        return standing

    assert asyncio.run(story()) == Standing(missing=frozenset("b"), lost=frozenset("a"))


def test_a_book_that_cannot_be_opened_is_a_store_error(tmp_path):
    async def story():
        await Durable(f"sqlite:///{tmp_path}/no/such/folder/book.db", "one").open()

    with pytest.raises(StoreError, match="durable work"):
        asyncio.run(story())
