"""The filters that were written for a type of job, for one command."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from app.cli.configured import configured, has_database
from app.errors import StoreError
from app.rulebook.compiled import Compiled
from app.settings import Settings

_BYTES_PER_TOKEN = 3


def with_filters(
    compiled: Compiled,
    inputs: Sequence[Path | BinaryIO],
    job_type: str | None,
    budget_tokens: int,
) -> Compiled:
    """Add the filters of the job's type, where a service has kept any.

    A small log needs none: its digest holds it all.
    """
    settings = configured()
    if not has_database(settings) or (job_type is None and _is_small(inputs, budget_tokens)):
        return compiled
    return _filtered(compiled, inputs, job_type, settings)


def _filtered(
    compiled: Compiled, inputs: Sequence[Path | BinaryIO], job_type: str | None, settings: Settings
) -> Compiled:
    from app.recognise import outline_of
    from app.store.database import connect  # a database takes half a second to import
    from app.store.filters import Filters
    from app.written import fitting

    try:
        types = Filters(connect(settings.database)).known(job_type)
    except StoreError as error:
        print(f"firstfault: written filters are not used: {error}", file=sys.stderr)
        return compiled
    if not any(known.routines for known in types):
        return compiled
    named = [known for known in types if known.name == job_type]
    found = named[0] if named else fitting(job_type, outline_of(inputs), types)
    return compiled.with_written(found.routines) if found else compiled


def _is_small(inputs: Sequence[Path | BinaryIO], budget_tokens: int) -> bool:
    """Say whether a log cannot be over the budget; one that may be packed can."""
    most = budget_tokens * _BYTES_PER_TOKEN // 4
    return all(isinstance(item, Path) and item.is_file() for item in inputs) and (
        sum(item.stat().st_size for item in inputs if isinstance(item, Path)) <= most
    )
