"""Kill the service at random moments under a stream of job exits; count what was lost."""

import contextlib
import random
import tempfile
import time
from pathlib import Path

from tests.api.server import REAL, Server, start
from tests.endurance.stream import SECRET, Stream
from tests.postgres import postgres

_RATE = 5.0  # reports a second
_DONE_SECONDS = 1200.0


def kill(rounds: int, *, shared: bool, dice: random.Random) -> int:
    """Run the trial and print what came of it; give the number of faults."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="endurance-")))
        logs = folder / "logs"
        logs.mkdir()
        settings: dict[str, object] = {
            "log_roots": logs, "webhook_secrets": SECRET, "quiet_log_seconds": 0.2,
            "late_log_seconds": 0, "queue_limit": 100_000,
        }  # fmt: skip
        if shared:
            settings["database_url"] = stack.enter_context(postgres()).url
        servers = [_start(folder, settings, number) for number in range(2 if shared else 1)]
        urls = [server.url for server in servers]
        stream = Stream(logs, urls, _RATE)
        threads = stream.run()
        began = time.monotonic()
        for count in range(rounds):
            time.sleep(dice.uniform(0.1, 2.0))
            victim = dice.randrange(len(servers))
            servers[victim].kill()
            servers[victim] = _start(folder, settings, victim)
            urls[victim] = servers[victim].url
            print(f"  killed {count + 1} times, {len(stream.sent.ids)} accepted", flush=True)
        stream.stop()
        for thread in threads:
            thread.join()
        faults = _count(stream, servers[0], time.monotonic() - began)
        for server in servers:
            server.kill()
        return faults


def _start(folder: Path, settings: dict[str, object], number: int) -> Server:
    data = folder / "data" if "database_url" not in settings else folder / f"data{number}"
    return start(data, program=REAL, replica=f"replica-{number}", **settings)


def _count(stream: Stream, server: Server, seconds: float) -> int:
    sent = stream.sent
    wrong, unfinished, changed = [], list(sent.ids.items()), 0
    end = time.monotonic() + _DONE_SECONDS
    with server.client() as client:
        while unfinished and time.monotonic() < end:
            job, id = unfinished.pop(0)
            found = client.get(f"/v1/diagnoses/{id}").json()
            if found["status"] not in ("complete", "failed"):
                unfinished.append((job, id))
                time.sleep(0.05)
                continue
            if found.get("primary", {}).get("cause") != sent.causes[job]:
                wrong.append((job, found.get("error") or found["primary"]["cause"]))
            changed += len(client.get(f"/v1/diagnoses/{id}/history").json()["items"])
        listed = _all(client)
    twice = len(listed) - len({item["job"]["job_id"] for item in listed})
    missing = [job for job, id in sent.ids.items() if id not in {item["id"] for item in listed}]
    print(
        f"{len(sent.ids)} accepted in {seconds:.0f} s, {len(sent.lost)} never accepted; "
        f"{len(missing)} missing, {len(unfinished)} unfinished, {len(wrong)} wrong, "
        f"{twice} twice, {changed} verdicts replaced"
    )
    for job, said in wrong[:10]:
        print(f"  {job}: expected {sent.causes[job]}, got {said}")
    return len(missing) + len(unfinished) + len(wrong) + twice + changed


def _all(client) -> list[dict]:
    items, cursor = [], None
    while True:
        query = {"limit": 200, **({"cursor": cursor} if cursor else {})}
        page = client.get("/v1/diagnoses", params=query).json()
        items += page["items"]
        cursor = page["next"]
        if cursor is None:
            return items
