"""The book of durable work, with DBOS itself and a database file."""

import asyncio
import time

import pytest

from app.errors import StoreError
from app.work.durable import PATIENT, URGENT, Durable, Kind, Standing
from tests.waiting import soon


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

        async def lost():
            standing = await durable.standing("fail", ["a", "b"])
            return standing.lost and standing

        standing = await soon(lost)
        await durable.close()
        return standing

    assert asyncio.run(story()) == Standing(missing=frozenset("b"), lost=frozenset("a"))


def test_a_call_that_ended_can_be_made_once_more_and_one_that_is_made_just_now_stays(each_database):
    made = []

    async def note(text):
        made.append(text)
        await asyncio.sleep(0.5)

    async def story():
        durable = Durable(each_database, "one")
        durable.offer(Kind("note", note, at_once=2))
        await durable.open()
        await durable.entrust("note", "a", "it")

        async def done():
            return (await durable.standing("note", ["a"])).done

        await soon(done)
        for _ in range(2):
            await durable.again("note", "a")
        await until(lambda: len(made) == 2)
        await durable.again("note", "a")
        await asyncio.sleep(1)
        standing = await durable.standing("note", ["a"])
        await durable.close()
        return standing

    assert asyncio.run(story()).done == {"a"}
    assert made == ["it", "it"]


def test_calls_that_ended_long_ago_are_forgotten_some_at_a_time_and_no_others(each_database):
    async def work(text):
        if text == "fail":
            raise ZeroDivisionError
        if text == "hang":
            await asyncio.sleep(3600)

    async def story():
        durable = Durable(each_database, "one")
        durable.offer(Kind("work", work, at_once=9))
        await durable.open()
        texts = ["done", "fine", "fail", "hang"]
        for text in texts:
            await durable.entrust("work", text, text)
        await durable.entrust("work", "later", "done", delay_seconds=3600)
        while len((found := await durable.standing("work", texts)).done | found.lost) < 3:
            await asyncio.sleep(0.05)
        kept = await durable.forget(time.time() - 3600, 9)
        gone = [await durable.forget(time.time() + 60, 2) for _ in range(3)]
        standing = await durable.standing("work", [*texts, "later"])
        await durable.close()
        return kept, gone, standing

    kept, gone, standing = asyncio.run(story())
    assert (kept, gone) == (0, [2, 1, 0])
    assert standing == Standing(missing=frozenset({"done", "fine", "fail"}), lost=frozenset())


def test_a_book_that_cannot_be_opened_is_a_store_error(tmp_path):
    async def story():
        await Durable(f"sqlite:///{tmp_path}/no/such/folder/book.db", "one").open()

    with pytest.raises(StoreError, match="durable work"):
        asyncio.run(story())
