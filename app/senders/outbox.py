"""Keep reports in a folder until the service has them, and sign and post them.

A report is a file before anything is sent, so that neither a service that is away nor a machine
that goes down loses one. Many hooks may end at the same moment: one of them sends what all have
left, the others return. A message keeps its id however often it is sent, so the service takes it
once. Only the standard library is used, of Python 3.9 and later.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import hmac
import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from app.senders.config import Service, Unusable

Told = Literal["sent", "refused", "later", "away"]
_REFUSED = (400, 403, 413, 415, 422)  # what will be wrong however often it is sent
_AWAY = (429, 502, 503, 504)
_LONGEST_PAUSE_SECONDS = 60.0
_TIMEOUT_SECONDS = 30.0


class Outbox:
    """The folder of reports; any number of processes may use one."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._ready = service.spool / "ready"
        self._refused = service.spool / "refused"
        for folder in (self._ready, self._refused):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def put(self, data: dict[str, object], id: str) -> None:
        """Keep the report of an exit; it is on the disk when this returns."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        message = {"type": "job.exited", "timestamp": now, "data": data}
        written(self._ready / f"{id}.json", json.dumps(message))

    def drain(self, patience_seconds: float) -> int:
        """Send what is there; while the service is away, try for so long. Give what is left.

        Where another process sends, it sends these too.
        """
        end = time.monotonic() + patience_seconds
        while self._waiting():
            with _alone(self._service.spool / "lock") as is_alone:
                if is_alone:
                    self._send_until(end)
            # what was put after the last look, by one that found the lock taken, is seen here
            if not is_alone or time.monotonic() >= end:
                break
        return len(self._waiting())

    def _send_until(self, end: float) -> None:
        pause = 1.0
        while self._round():
            left = end - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _round(self) -> bool:
        """Send each waiting report once; say whether some have to be sent again."""
        kept = False
        for file in self._waiting():
            told, why = self._post(file)
            if told == "sent":
                file.unlink()
            elif told == "refused":
                written(self._refused / f"{file.stem}.why", why)
                file.rename(self._refused / file.name)
            else:
                kept = True
            if told != "sent":
                print(f"firstfault-sender: {file.stem}: {why}", flush=True)
            if told == "away":
                break
        return kept

    def _waiting(self) -> list[Path]:
        return sorted(self._ready.glob("*.json"))

    def _post(self, file: Path) -> tuple[Told, str]:
        body = file.read_bytes()
        headers = {"Content-Type": "application/json", **signed(self._secret(), file.stem, body)}
        url = f"{self._service.url}/v1/webhooks/job-exit"
        request = urllib.request.Request(url, body, headers, method="POST")
        try:
            with self._opener().open(request, timeout=_TIMEOUT_SECONDS):
                return "sent", ""
        except urllib.error.HTTPError as error:
            with error:
                why = f"{error.code} {error.read(2000).decode(errors='replace')}"
            if error.code in _REFUSED:
                return "refused", why
            return ("away" if error.code in _AWAY else "later"), why
        except (OSError, http.client.HTTPException) as error:
            return "away", f"{url}: {error}"

    def _opener(self) -> urllib.request.OpenerDirector:
        trusted = ssl.create_default_context(cafile=self._service.ca_file)
        return urllib.request.build_opener(
            _NoRedirect(), urllib.request.HTTPSHandler(context=trusted)
        )

    def _secret(self) -> bytes:
        return secret_of(self._service.secret_file)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follow nowhere: a POST would become a GET, and another host see the report."""


def new_id() -> str:
    """Give a message id; later ones sort behind earlier ones."""
    return f"{time.time_ns():020d}-{uuid.uuid4().hex}"


def signed(secret: bytes, id: str, body: bytes) -> dict[str, str]:
    """Give the headers of Standard Webhooks, with the time of now: it may be five minutes off."""
    moment = str(int(time.time()))
    content = b".".join((id.encode(), moment.encode(), body))
    digest = base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": id,
        "webhook-timestamp": moment,
        "webhook-signature": f"v1,{digest}",
    }


def secret_of(file: Path) -> bytes:
    """Read a secret (`whsec_` and base64); raise Unusable for one that all may read."""
    try:
        if file.stat().st_mode & 0o007:
            raise Unusable(f"{file}: every user may read the secret; chmod 0400 it")
        text = file.read_text().strip()
        start = "whsec_"
        return base64.b64decode(text[len(start) :] if text.startswith(start) else text, None, True)
    except (OSError, ValueError) as error:
        raise Unusable(f"{file}: no secret such as whsec_MfKQ…: {error}") from error


def written(file: Path, text: str) -> None:
    """Write a file whole or not at all, and to the disk."""
    part = file.with_name(f".{file.name}.{os.getpid()}")
    with part.open("w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    part.replace(file)


@contextmanager
def _alone(lock: Path) -> Iterator[bool]:
    """Say whether no other process holds the lock; it ends with the process."""
    with lock.open("w") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
