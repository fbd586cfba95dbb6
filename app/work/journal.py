"""Write the log of the service: one JSON object a line on standard error.

Every process of the service writes there, each line with the name of the part that wrote it. What
is done for a diagnosis says so in its lines, and for which request, without each call of the
logger naming the two: they go along with the work, into threads and over to other processes.
"""

import logging
import sys
from contextlib import AbstractContextManager, suppress
from typing import TextIO, cast

import structlog

_NAMES = ("diagnosis_id", "request_id")


class _StandardError:
    """Standard error, which may lie on a disk that is full: a line without room there is dropped.

    A request must not fail, nor a worker end, because nobody can be told of it.
    """

    def write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


def set_up(part: str) -> None:
    """Send our own log and that of the libraries through one formatter."""

    def name_part(
        _: object, __: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        event["part"] = part
        return event

    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        name_part,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    lines = cast(TextIO, _StandardError())
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(lines),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(lines)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(True)


def about(diagnosis_id: str | None, request_id: str | None) -> AbstractContextManager[object]:
    """Have all lines of a block name a diagnosis and the request that asked for it."""
    told = zip(_NAMES, (diagnosis_id, request_id), strict=True)
    return structlog.contextvars.bound_contextvars(**{name: id for name, id in told if id})


def present() -> dict[str, str]:
    """Tell what lines name just now, to be handed on to another process."""
    bound = structlog.contextvars.get_contextvars()
    return {name: str(bound[name]) for name in _NAMES if name in bound}
