"""Reports survive a service that is away, and are sent once, signed."""

import base64
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from standardwebhooks import Webhook

from app.senders.config import Service, Unusable
from app.senders.outbox import Outbox, new_id, secret_of

SECRET = "whsec_" + base64.b64encode(b"k" * 24).decode()


def waiting(service: Service, name: str = "ready") -> list[str]:
    return sorted(path.name for path in (service.spool / name).iterdir())


def test_a_report_is_signed_so_that_others_can_check_it(service, receiver):
    outbox = Outbox(service)
    outbox.put({"job_id": "47", "log_uri": "file:///a"}, id := new_id())
    assert outbox.drain(0) == 0
    ((headers, body),) = receiver.got
    told = Webhook(SECRET).verify(body, headers)
    assert (told["type"], told["data"]["job_id"]) == ("job.exited", "47")
    assert headers["webhook-id"] == id
    assert waiting(service) == []


@pytest.mark.parametrize("status", [301, 401, 404, 429, 500, 503])
def test_what_may_go_well_later_is_kept_and_sent_under_the_same_id(service, receiver, status):
    receiver.statuses = [status]
    outbox = Outbox(service)
    outbox.put({"job_id": "1"}, new_id())
    assert outbox.drain(0) == 1
    assert outbox.drain(0) == 0
    ids = [headers["webhook-id"] for headers, _ in receiver.got]
    assert len(ids) == 2
    assert len(set(ids)) == 1


def test_what_will_never_go_well_is_put_aside_with_the_reason(service, receiver):
    receiver.statuses = [422]
    outbox = Outbox(service)
    for job in ("1", "2"):
        outbox.put({"job_id": job}, new_id())
    assert outbox.drain(0) == 0
    assert len(receiver.got) == 2
    report, why = waiting(service, "refused")
    assert json.loads((service.spool / "refused" / report).read_text())["data"]["job_id"] == "1"
    assert (service.spool / "refused" / why).read_text() == "422 as it was asked"


def test_a_service_that_is_away_is_waited_for(service, receiver, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: asked.append(seconds))
    asked: list[float] = []
    receiver.statuses = [503, 503, 500]
    outbox = Outbox(service)
    outbox.put({"job_id": "1"}, new_id())
    assert outbox.drain(600) == 0
    assert asked == [1, 2, 4]


def test_many_hooks_at_once_send_each_report_once(service, receiver):
    def hook(job: int) -> None:
        outbox = Outbox(service)
        outbox.put({"job_id": str(job)}, new_id())
        outbox.drain(20)

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(hook, range(60)))
    jobs = [json.loads(body)["data"]["job_id"] for _, body in receiver.got]
    assert sorted(jobs, key=int) == [str(job) for job in range(60)]
    assert waiting(service) == []


def test_without_its_secret_nothing_is_sent_and_nothing_lost(service, receiver):
    outbox = Outbox(service)
    outbox.put({"job_id": "1"}, new_id())
    service.secret_file.chmod(0o404)
    with pytest.raises(Unusable, match="every user may read the secret"):
        outbox.drain(0)
    service.secret_file.unlink()
    with pytest.raises(Unusable, match="no secret"):
        outbox.drain(0)
    assert len(waiting(service)) == 1
    assert receiver.got == []


def test_a_secret_may_stand_without_its_prefix(service):
    service.secret_file.chmod(0o600)
    service.secret_file.write_text(SECRET.removeprefix("whsec_"))
    assert secret_of(service.secret_file) == b"k" * 24
