"""Look at everything that the service stands on, and say what to do about what is wrong.

Nothing is changed by it and no look waits long, so it may run beside a service or before its first
start. Each look is by itself: one that fails hides no other.
"""

import base64
import binascii
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import httpx
import httpx2

from app.errors import FirstFaultError
from app.memory.chroma import Server
from app.memory.embed import HASHING, MINILM
from app.reason.prompt import Prompts
from app.rulebook.load import load
from app.service.asking import asking
from app.service.misspelt import misspelt
from app.service.objects import object_store
from app.settings import Settings
from app.store.database import connect
from app.store.migrate import form_of
from app.work.object_names import named

Level = Literal["ok", "warn", "fail"]

_SECONDS = 10.0
_SECRET_BYTES = 24  # the least that the Standard Webhooks specification advises
_PACKAGES = ("firstfault", "hyperscan", "chromadb", "dbos", "sqlalchemy")


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at one thing found, and what to do about it."""

    name: str
    level: Level
    told: str
    remedy: str = ""


def examined(settings: Settings) -> Iterator[Look]:
    """Look at one thing after the other."""
    for name, look in _LOOKS.items():
        try:
            yield from look(settings)
        except FirstFaultError as error:
            yield Look(name, "fail", str(error), _REMEDIES[name])
        except OSError as error:
            yield Look(name, "fail", error.strerror or str(error), _REMEDIES[name])


def _versions(_: Settings) -> Iterator[Look]:
    told = [f"Python {platform.python_version()}", *map(_version, _PACKAGES)]
    yield Look("versions", "ok", ", ".join(told))


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} (not installed)"


def _settings(_: Settings) -> Iterator[Look]:
    faults = misspelt()
    for told in faults:
        yield Look("settings", "warn", told, _REMEDIES["settings"])
    if not faults:
        yield Look("settings", "ok", "every variable FIRSTFAULT_… is one")


def _disk(settings: Settings) -> Iterator[Look]:
    folder = settings.data_dir.absolute()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        yield Look("disk", "fail", f"{there} cannot be written", _REMEDIES["disk"])
        return
    free, least = shutil.disk_usage(there).free, settings.min_free_bytes
    level: Level = "fail" if free < least else "warn" if free < 4 * least else "ok"
    told = f"{free >> 20} MiB free at {folder}; uploads are refused below {least >> 20} MiB"
    yield Look("disk", level, told, "" if level == "ok" else _REMEDIES["disk"])


def _database(settings: Settings) -> Iterator[Look]:
    file = settings.database.removeprefix("sqlite:///")
    if settings.is_alone and not Path(file).is_file():
        yield Look("database", "ok", f"{file} will be made at the first start")
        return
    engine = connect(settings.database)
    try:
        form = form_of(engine)
    finally:
        engine.dispose()
    if form.state == "later":
        told = f"is of a later version of firstfault ({form.found}, not {form.expected})"
        yield Look("database", "fail", told, "install the version that wrote it, or a later one")
    elif form.state != "right":
        told = f"is at revision {form.found}, and will be brought to {form.expected} at the next "
        yield Look("database", "warn", f"{told}start", "keep a copy of it before that start")
    else:
        yield Look("database", "ok", f"answers, and is at revision {form.expected}")


def _rules(settings: Settings) -> Iterator[Look]:
    rulebook = load(settings.rules_dir, settings.cache_dir, settings.learned_dir)
    yield Look("rules", "ok", f"{len(rulebook.causes)} causes, {rulebook.fingerprint}")


def _prompts(settings: Settings) -> Iterator[Look]:
    prompts = Prompts(settings.prompts_dir)
    yield Look("prompts", "ok", f"{len(list(prompts))} prompts, {prompts.fingerprint}")


def _memory(settings: Settings) -> Iterator[Look]:
    if not settings.memory:
        yield Look("memory", "ok", "switched off (FIRSTFAULT_MEMORY)")
        return
    if settings.embedder not in (HASHING, MINILM) and not Path(settings.embedder).is_dir():
        told = (
            f"FIRSTFAULT_EMBEDDER={settings.embedder} is neither {HASHING}, {MINILM} nor a folder"
        )
        yield Look("memory", "fail", told, "correct FIRSTFAULT_EMBEDDER")
        return
    if settings.embedder != HASHING and find_spec("sentence_transformers") is None:
        told = f"FIRSTFAULT_EMBEDDER={settings.embedder} needs the extra `embeddings`"
        yield Look("memory", "fail", told, "pip install 'firstfault[embeddings]'")
        return
    if settings.chroma_url is None:
        yield Look("memory", "ok", f"index in {settings.data_dir.absolute() / 'memory'}")
        return
    try:
        Server(settings.chroma_url).heartbeat()
    except httpx.HTTPError as error:
        told = f"the Chroma server {settings.chroma_url} does not answer: {error}"
        yield Look("memory", "warn", f"{told}; searches go by words", _REMEDIES["memory"])
    else:
        yield Look("memory", "ok", f"the Chroma server {settings.chroma_url} answers")


def _model(settings: Settings) -> Iterator[Look]:
    asked = asking(settings, keeps_calls=False)
    if asked is None:
        yield Look("model", "ok", "none is configured; rules answer alone")
        return
    endpoint = asked.endpoint
    headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    url = httpx2.URL(endpoint.base_url)
    models = url.copy_with(path=f"{url.path.rstrip('/')}/models")
    try:
        answer = httpx2.get(models, headers=headers, timeout=_SECONDS)
    except httpx2.RequestError as error:
        told = f"{endpoint.place} cannot be reached: {error}"
        yield Look("model", "fail", told, _REMEDIES["model"])
        return
    if answer.status_code in (401, 403):
        told = f"{endpoint.place} refuses the key (HTTP {answer.status_code})"
        yield Look("model", "fail", told, "set FIRSTFAULT_MODEL_API_KEY")
    elif answer.status_code == 200 and endpoint.model not in answer.text:
        told = f"{endpoint.place} does not list {endpoint.model}"
        yield Look("model", "warn", told, "compare FIRSTFAULT_MODEL with the list at /models")
    else:
        yield Look("model", "ok", f"{endpoint.place} answers (HTTP {answer.status_code})")


def _roots(settings: Settings) -> Iterator[Look]:
    if not settings.log_roots:
        yield Look("log roots", "ok", "none; logs are taken as bodies only")
    for root in settings.log_roots:
        if isinstance(root, str):
            object_store(settings).check(named(root))
            yield Look("log roots", "ok", f"{root} can be listed")
        elif not (root.is_dir() and os.access(root, os.R_OK | os.X_OK)):
            told = f"{root} is no folder that this user may read"
            yield Look("log roots", "fail", told, _REMEDIES["log roots"])
        else:
            yield Look("log roots", "ok", f"{root} can be read")


def _secrets(settings: Settings) -> Iterator[Look]:
    secrets = settings.webhook_secrets
    if not secrets:
        told = "none; reports of job exits are not accepted"
        yield Look("webhook secrets", "ok", told)
        return
    bad = [n for n, each in enumerate(secrets, 1) if not _is_secret(each.get_secret_value())]
    if bad:
        told = f"number {', '.join(map(str, bad))} is not whsec_ and base64 of 24 bytes or more"
        yield Look("webhook secrets", "fail", told, _REMEDIES["webhook secrets"])
    else:
        yield Look("webhook secrets", "ok", f"{len(secrets)} of the right form")


def _is_secret(secret: str) -> bool:
    try:
        data = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        return False
    return secret.startswith("whsec_") and len(data) >= _SECRET_BYTES


def _tokens(settings: Settings) -> Iterator[Look]:
    if settings.tokens:
        yield Look("tokens", "ok", ", ".join(token.name for token in settings.tokens))
    elif settings.host in ("127.0.0.1", "localhost", "::1"):
        yield Look("tokens", "ok", f"none; the service listens on {settings.host} alone")
    else:
        told = f"none, but FIRSTFAULT_HOST is {settings.host}: it will not start"
        yield Look("tokens", "fail", told, _REMEDIES["tokens"])


def _dask(settings: Settings) -> Iterator[Look]:
    address = settings.dask_scheduler
    if address is None:
        yield Look("dask", "ok", "none; processes of this machine reclassify")
        return
    if find_spec("distributed") is None:
        yield Look("dask", "fail", "the extra is missing", "pip install 'firstfault[dask]'")
        return
    from distributed import Client

    with Client(address, timeout=_SECONDS) as client:  # type: ignore[no-untyped-call]  # no types
        workers = len(client.scheduler_info()["workers"])
    level: Level = "ok" if workers else "warn"
    remedy = "" if workers else f"start one: dask worker {address}"
    yield Look("dask", level, f"{address} answers, {workers} workers", remedy)


_LOOKS: dict[str, Callable[[Settings], Iterator[Look]]] = {
    "versions": _versions,
    "settings": _settings,
    "disk": _disk,
    "database": _database,
    "rules": _rules,
    "prompts": _prompts,
    "memory": _memory,
    "model": _model,
    "log roots": _roots,
    "webhook secrets": _secrets,
    "tokens": _tokens,
    "dask": _dask,
}
_REMEDIES = {
    "versions": "install firstfault again",
    "settings": "correct its name (docs/settings.md lists all), or unset it",
    "disk": "free some space, or set FIRSTFAULT_DATA_DIR to another folder",
    "database": "start the database, or correct FIRSTFAULT_DATABASE_URL",
    "rules": "`firstfault rules check` tells every fault; see FIRSTFAULT_RULES_DIR",
    "prompts": "correct the file, or FIRSTFAULT_PROMPTS_DIR",
    "memory": "start the Chroma server, or correct FIRSTFAULT_CHROMA_URL",
    "model": "start the endpoint, or correct FIRSTFAULT_MODEL_BASE_URL",
    "log roots": "correct FIRSTFAULT_LOG_ROOTS, or let this user read it",
    "webhook secrets": 'make one: python -c "import base64,secrets; '
    "print('whsec_'+base64.b64encode(secrets.token_bytes(24)).decode())\"",
    "tokens": "set FIRSTFAULT_TOKENS, as ops:admin:SECRET",
    "dask": "start the scheduler, or correct FIRSTFAULT_DASK_SCHEDULER",
}
