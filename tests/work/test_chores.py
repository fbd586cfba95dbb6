import asyncio

from structlog.testing import capture_logs

from app.errors import StoreError
from app.work.chores import repeat


def test_a_chore_that_fails_is_told_of_and_tried_again_and_the_others_are_done():
    done = []

    async def breaks():
        done.append("breaks")
        raise ZeroDivisionError("a bug")

    async def waits():
        done.append("waits")
        raise StoreError("the database is away")

    async def works():
        done.append("works")

    async def story():
        chores = {"one": breaks, "two": waits, "three": works}
        task = asyncio.create_task(repeat(chores, 0.01))
        async with asyncio.timeout(5):
            while done.count("works") < 3:
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()

    with capture_logs() as told:
        asyncio.run(story())
    assert done[:6] == ["breaks", "waits", "works"] * 2
    assert {(line["chore"], line["log_level"]) for line in told} == {
        ("one", "error"),
        ("two", "warning"),
    }
