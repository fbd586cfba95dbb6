import asyncio
import os
from collections import Counter
from pathlib import Path

import pytest

from app.errors import Busy, NotFound, SourceError, SourceTooLarge, StoreError, UsageError
from app.model import Job
from app.service import Service
from app.settings import Settings
from app.store.diagnoses import Request
from app.store.ids import new_id
from tests.obedient import Obedient
from tests.waiting import soon


def settings(folder: Path, **chosen: object) -> Settings:
    return Settings(data_dir=folder, cache_dir=folder, rules_dir=folder, workers=1, **chosen)


async def once(data: bytes):
    yield data


def run(folder: Path, story, **chosen: object):
    """Open a service, tell it a story, close it."""

    async def told():
        service = Service(settings(folder, **chosen), Obedient)
        async with service.running():
            return await story(service)

    return asyncio.run(told())


async def standing(service: Service, id: str, which: str) -> bool:
    return id in getattr(await service._durable.standing("diagnose", [id]), which)


async def empty(service: Service) -> bool:
    return not await service.page()


async def begun(service: Service, id: str) -> bool:
    state = service.crew.state(id)
    return state is not None and state.status == "running"


async def submit(service: Service, name: str = "", log: bytes = b"a line") -> str:
    return await service.submit(Job(name=name), (await service.intake.receive(once(log)),))


def test_what_is_accepted_is_answered(tmp_path):
    async def story(service):
        return await service.find(await submit(service), wait_seconds=60)

    record = run(tmp_path, story)
    assert (record.status, record.answer) == ("complete", '{"log": "a line"}')


def test_a_bug_in_the_reader_fails_that_diagnosis_and_no_other(tmp_path):
    async def story(service):
        broken, fine = await submit(service, "break"), await submit(service)
        return [await service.find(id, 60) for id in (broken, fine)]

    broken, fine = run(tmp_path, story)
    assert (broken.status, broken.fault.kind) == ("failed", "InternalError")
    assert fine.status == "complete"


def test_a_log_that_kills_its_reader_twice_has_failed_and_the_next_is_answered(tmp_path):
    async def story(service):
        deadly, fine = await submit(service, "die"), await submit(service)
        return *[await service.find(id, 30) for id in (deadly, fine)], service.crew.deaths

    deadly, fine, deaths = run(tmp_path, story)
    assert (deadly.status, deadly.fault.kind) == ("failed", "WorkerKilled")
    assert fine.status == "complete"
    assert deaths == 2


def test_a_log_that_takes_too_long_is_given_up(tmp_path):
    async def story(service):
        slow, fine = await submit(service, "sleep 60"), await submit(service)
        return [await service.find(id, 30) for id in (slow, fine)]

    slow, fine = run(tmp_path, story, diagnosis_seconds=2)
    assert (slow.status, slow.fault.kind) == ("failed", "TookTooLong")
    assert fine.status == "complete"


def test_what_was_accepted_and_not_ended_is_taken_up_at_the_next_start(tmp_path):
    async def leave(service):
        ids = [await submit(service, "sleep 3"), await submit(service, "", b"another")]
        await soon(lambda: begun(service, ids[0]))
        return ids, [(await service.find(id)).status for id in ids]

    async def come_back(service):
        return [(await service.find(id, 60)).status for id in ids]

    ids, left = run(tmp_path, leave, drain_seconds=0)
    assert left == ["running", "queued"]
    assert run(tmp_path, come_back) == ["complete", "complete"]


def test_a_full_queue_turns_callers_away_and_keeps_nothing_of_theirs(tmp_path):
    async def story(service):
        for _ in range(3):  # one runs, two wait
            await submit(service, "sleep 30")
        with pytest.raises(Busy):
            await submit(service)
        assert service.crew.retry_after >= 1
        return len(await service.page())

    assert run(tmp_path, story, queue_limit=2) == 3


def test_a_watcher_hears_of_each_step_up_to_the_end(tmp_path):
    async def story(service):
        id = await submit(service, "sleep 0.7")
        return [(state.status, state.progress) async for state in service.watch(id)]

    heard = run(tmp_path, story)
    assert ("running", 0.5) in heard
    assert heard[-1] == ("complete", 1.0)


def test_logs_that_are_empty_or_too_large_are_refused_and_not_kept(tmp_path):
    async def story(service):
        with pytest.raises(SourceError, match="empty"):
            await service.intake.receive(once(b""))
        with pytest.raises(SourceTooLarge, match="FIRSTFAULT_MAX_UPLOAD_BYTES"):
            await service.intake.receive(once(b"x" * 101))

    run(tmp_path, story, max_upload_bytes=100)
    assert [path for path in (tmp_path / "uploads").rglob("*") if path.is_file()] == []


def test_an_upload_that_was_removed_meanwhile_fails_with_its_reason(tmp_path):
    async def story(service):
        upload = await service.intake.receive(once(b"a line"))
        next((tmp_path / "uploads").rglob("log")).unlink()
        return await service.find(await service.submit(Job(), (upload,)), 60)

    assert "no longer kept" in run(tmp_path, story).fault.detail


def test_a_database_that_is_gone_for_a_while_delays_answers_and_loses_none(tmp_path):
    tries = []

    async def story(service):
        keep = service._diagnoses.finish

        def finish(id, result):
            tries.append(id)
            if len(tries) < 3:
                raise StoreError("the database is away")
            keep(id, result)

        service._diagnoses.finish = finish
        return await service.find(await submit(service), 60)

    assert run(tmp_path, story).status == "complete"
    assert len(tries) == 3


def test_old_uploads_are_removed_once_their_diagnosis_has_ended(tmp_path):
    async def ended(service):
        await service.find(await submit(service), 60)

    async def nothing(service):
        await asyncio.sleep(0.3)

    run(tmp_path, ended)
    upload = next((tmp_path / "uploads").rglob("log"))
    os.utime(upload, (1, 1))
    run(tmp_path, nothing, retention_days=0)
    assert upload.exists()
    run(tmp_path, nothing, retention_days=1)
    assert not upload.exists()


def test_what_is_old_is_removed_while_the_service_runs_and_results_only_if_asked(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("app.service.service._SWEEP_SECONDS", 0.1)
    at_once = 1e-9  # days

    async def of_its_call(service):
        id = await submit(service)
        answered = (await service.find(id, 60)).status
        await soon(lambda: standing(service, id, "missing"))
        return id, answered, (await service.find(id)).status

    async def of_all(service):
        await soon(lambda: empty(service))
        with pytest.raises(NotFound):
            await service.find(id)

    id, *statuses = run(tmp_path, of_its_call, keep_records_days=at_once)
    assert statuses == ["complete", "complete"]
    run(tmp_path, of_all, keep_results_days=at_once)


def test_a_second_delivery_of_a_call_ends_no_earlier_than_the_first(tmp_path):
    """Another process takes this one for dead while it only slept, and gives its work out anew."""

    async def story(service):
        id = await submit(service, "sleep 2")
        await soon(lambda: begun(service, id))
        await service._durable.take_over([service.settings.executor])
        await asyncio.sleep(1)
        meanwhile = await service._durable.standing("diagnose", [id])
        record = await service.find(id, 60)
        return meanwhile, record, await service.history(id)

    meanwhile, record, history = run(tmp_path, story)
    assert not meanwhile.done
    assert (record.status, record.revision, history) == ("complete", 1, [])


def test_a_diagnosis_whose_call_ended_without_an_answer_is_made_all_the_same(tmp_path):
    async def story(service):
        upload = await service.intake.receive(once(b"a line"))
        request = Request(new_id(), Job(), (upload,))
        await service._durable.entrust("diagnose", request.id, request.id)
        await soon(lambda: standing(service, request.id, "done"))
        service._diagnoses.add(request)
        await service.crew.tend()
        return await service.find(request.id, 60)

    assert run(tmp_path, story).status == "complete"


def test_what_looks_after_diagnoses_survives_what_nobody_foresaw(tmp_path, monkeypatch):
    monkeypatch.setattr("app.service.service._TEND_SECONDS", 0.05)
    monkeypatch.setattr("app.service.service._SWEEP_SECONDS", 0.05)
    monkeypatch.setattr("app.work.presence.BEAT_SECONDS", 0.05)
    monkeypatch.setattr("app.work.keeping._GLANCE_SECONDS", 0.05)
    times: Counter[str] = Counter()

    def breaking(name):
        def broken(*_: object) -> None:
            times[name] += 1
            raise ZeroDivisionError(name)

        return broken

    async def story(service):
        upload = await service.intake.receive(once(b"a line"))
        request = Request(new_id(), Job(), (upload,))
        monkeypatch.setattr(service._presence._executors, "beat", breaking("heartbeat"))
        monkeypatch.setattr(service.exits._diagnoses, "unfinished", breaking("tend"))
        monkeypatch.setattr(service.intake, "remove_old", breaking("sweep"))
        monkeypatch.setattr(service.memory._keeping._process, "poll", breaking("memory"))
        async with asyncio.timeout(20):
            while len(times) < 4 or min(times.values()) < 3:
                await asyncio.sleep(0.05)
        monkeypatch.undo()
        service._diagnoses.add(request)
        async with asyncio.timeout(50):
            return await service.find(request.id, 50)

    assert run(tmp_path, story).status == "complete"


def test_faults_in_the_rules_are_told_at_the_start(tmp_path):
    (tmp_path / "broken").touch()
    with pytest.raises(UsageError, match="KeyError.yaml:3: a fault"):
        Service(settings(tmp_path), Obedient)


def test_rules_that_break_later_delay_diagnoses_and_fail_none(tmp_path, monkeypatch):
    monkeypatch.setattr("app.work.lane._PATIENCE", (0.2,))

    async def story(service):
        (tmp_path / "broken").touch()
        deadly, fine = await submit(service, "die"), await submit(service)
        while (fault := (await service.faults())["rules"]) is None:
            await asyncio.sleep(0.05)
        (tmp_path / "broken").unlink()
        return fault, (await service.find(deadly, 60)).status, (await service.find(fine, 60)).status

    assert run(tmp_path, story) == ("causes/KeyError.yaml:3: a fault", "failed", "complete")


def test_two_services_never_share_a_data_folder(tmp_path):
    async def story(service):
        with pytest.raises(StoreError, match="served by another process"):
            Service(settings(tmp_path), Obedient)

    run(tmp_path, story)


def test_readiness_names_what_is_wrong(tmp_path):
    async def story(service):
        fine = await service.faults()
        service.intake._uploads._min_free_bytes = 1 << 60
        return fine, await service.faults()

    fine, full = run(tmp_path, story)
    assert set(fine.values()) == {None}
    assert "nearly full" in full["disk"]


def test_an_unknown_id_is_not_found(tmp_path):
    async def story(service):
        with pytest.raises(NotFound):
            await service.find("dg_nothing")

    run(tmp_path, story)
