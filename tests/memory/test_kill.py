"""A process that writes memory is killed again and again; what it promised is there."""

import multiprocessing
import random
import time

from app.incident import Snippet
from app.memory.embed import HashingEmbedder
from app.memory.nearest import Memory
from app.work.keeper import index_of
from tests.memory.past import Past
from tests.memory.writer import write

ROUNDS = 20


def test_nothing_that_was_confirmed_is_lost_by_kills_while_memory_is_written(tmp_path):
    chance = random.Random(4)
    promises = tmp_path / "promises"
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(["tests.memory.writer"])
    for number in range(ROUNDS):
        before = promises.stat().st_size if promises.exists() else 0
        writer = forks.Process(target=write, args=(tmp_path, promises, number * 1000))
        writer.start()
        end = time.monotonic() + 60
        while not promises.exists() or promises.stat().st_size == before:
            assert time.monotonic() < end
            assert writer.is_alive()
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.15))
        writer.kill()
        writer.join()
        writer.close()

    promised = [line.split() for line in promises.read_text().splitlines()]
    assert len(promised) >= ROUNDS
    past = Past(tmp_path)
    kept = past.incidents.incidents([id for id, _ in promised])
    assert {id for id, _ in promised} == set(kept)
    assert {(one.cause, one.confirmed.by) for one in kept.values()} == {("RuntimeError", "mira")}

    open_index = index_of(tmp_path / "memory", None, 5)
    memory = Memory(past.incidents, HashingEmbedder(), lambda: open_index(HashingEmbedder.name))
    memory.catch_up()
    for id, word in chance.sample(promised, ROUNDS):
        found = memory.search(Snippet((f"FrobnicatorError: flux {word} is inverted",)), 3)
        assert id in [one.id for one in found.precedents]
        assert found.note is None
    assert memory.rebuild() == past.incidents.count()
    past.close()
