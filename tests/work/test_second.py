"""Second steps that go wrong: the answer is complete all the same, and says why."""

import asyncio
import json

import pytest

from app.model import Job
from app.store.database import connect
from app.store.diagnoses import Diagnoses, Request, Upload
from app.store.ids import new_id
from app.store.migrate import migrate
from app.store.outcome import Outcome
from app.store.refining import Refining
from app.store.threads import StoreThreads
from app.work.durable import Durable
from app.work.second import Second
from app.work.timings import Timings
from tests.waiting import soon

ANSWER = json.dumps({"status": "refining", "remarks": []})
FIRST = Outcome(ANSWER, "", "Unknown", "unknown", "none", "investigate", "nothing is known")


class _Lane:
    async def read(self, order, seconds: float):
        raise OSError("cannot fork")


@pytest.fixture
def told(tmp_path):
    """Tells a story about a diagnosis whose answer is to be refined, on a lane that breaks."""
    engine = connect(f"sqlite:///{tmp_path / 'f.db'}")
    migrate(engine)
    diagnoses, request = Diagnoses(engine), Request(new_id(), Job(), (Upload("0" * 64),))
    diagnoses.add(request)
    diagnoses.finish(request.id, FIRST)

    async def announce(_id: str) -> None:
        pass

    def tell(story):
        async def whole():
            threads, durable = StoreThreads(), Durable(f"sqlite:///{tmp_path / 'b.db'}", "one")
            second = Second(
                [_Lane()], diagnoses, Refining(engine), threads, durable,
                lambda _: None, announce, Timings(), seconds=9,
            )  # fmt: skip
            await story(second, durable, request.id)
            await durable.close()
            threads.close()

        asyncio.run(whole())
        return json.loads(diagnoses.find(request.id).answer or "{}")

    tell.answer = lambda: json.loads(diagnoses.find(request.id).answer or "{}")
    return tell


def test_a_fault_that_nobody_foresaw_completes_the_answer_with_its_words(told):
    async def story(second, durable, id):
        await durable.open()
        await second.begin(id)

        async def complete():
            return told.answer()["status"] == "complete"

        await soon(complete)

    (note,) = told(story)["remarks"]
    assert "OSError: cannot fork" in note


def test_an_answer_whose_step_was_given_up_is_completed(told, monkeypatch):
    async def breaks(*_):
        raise RuntimeError("no more")

    async def story(second, durable, id):
        monkeypatch.setattr(second._threads, "insist", breaks)
        await durable.open()
        await durable.entrust("refine", f"{id}:1", id, "1")

        async def lost():
            return await durable.lost("refine") == [f"{id}:1"]

        await soon(lost)
        monkeypatch.undo()
        await second.tend()

    answer = told(story)
    assert answer["status"] == "complete"
    assert "the log of the service tells more" in answer["remarks"][0]
