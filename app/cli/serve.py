"""Run the HTTP service until it is told to stop."""

import gc
import ipaddress
import secrets
import socket

import structlog
import uvicorn

from app.api.app import create
from app.api.patience import Guarded
from app.cli.configured import configured
from app.errors import UsageError
from app.service import Service
from app.service.misspelt import misspelt
from app.work import journal, worker

_GRACE_SECONDS = 3  # for answers under way; a diagnosis needs none, it is taken up again
_BACKLOG = 2048

log = structlog.get_logger()


def serve(
    *,
    host: str | None = None,
    port: int | None = None,
    prepare: worker.Prepare = worker.PipelineReader,
) -> None:
    """Serve at the address of the settings, or at the one given; return when told to stop.

    Raises UsageError for settings that cannot be meant, StoreError for a data folder or database
    that cannot be used.
    """
    settings = configured(host=host, port=port)
    if not settings.tokens:
        _refuse_strangers(settings.host)
    journal.set_up("service")
    for told in misspelt():
        log.warning("a setting that nobody knows", detail=told)
    listener = _listen(settings.host, settings.port)
    with listener:
        app = create(Service(settings, prepare))
        gc.collect()
        gc.freeze()  # a full collection of what stays anyway would hold up answers for 0.2 s
        print(f"firstfault listens on {_url(listener)} (API documentation at /docs)", flush=True)
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            http=Guarded,
            ws="none",
            timeout_graceful_shutdown=_GRACE_SECONDS,
            lifespan="on",
        )
        uvicorn.Server(config).run(sockets=[listener])


def _refuse_strangers(host: str) -> None:
    """Raise UsageError unless only this machine can reach the address."""
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        raise UsageError(
            f"will not listen on {host!r} without access tokens: whoever reaches it could read "
            "logs and answers. Set FIRSTFAULT_TOKENS, for instance to "
            f"ops:admin:{secrets.token_urlsafe(24)} (new, used nowhere yet), or listen on a "
            "loopback address such as 127.0.0.1"
        )


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers without delay only on sockets that are known to be TCP
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise UsageError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
