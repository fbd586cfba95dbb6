"""Do again and again what has to be done beside all requests; no fault of one time ends it.

A task that ends by a fault is missed by nobody: what it looked after is looked after no more, and
the service goes on as if all were well. So whatever runs for as long as the service does runs here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import structlog

from app.errors import FirstFaultError

Chore = Callable[[], Awaitable[object]]

log = structlog.get_logger()


async def repeat(chores: Mapping[str, Chore], seconds: float) -> None:
    """Do each of these in turn, with a pause behind the last, until cancelled.

    What fails is told of by its name and tried again the next time; the others are done all the
    same.
    """
    while True:
        for name, chore in chores.items():
            await _tried(name, chore)
        await asyncio.sleep(seconds)


async def _tried(name: str, chore: Chore) -> None:
    try:
        await chore()
    except (FirstFaultError, OSError) as error:
        log.warning("put off", chore=name, detail=str(error))
    except Exception:  # noqa: BLE001  the edge of a background run, which must go on
        log.exception("a chore broke", chore=name)
