"""What a run has come to, for spreadsheets: the table of what failures have cost, and the changes.

Names of logs and their words come from outside, and a spreadsheet takes a cell that begins like a
formula for one. Such a cell gets an apostrophe in front, as OWASP advises against CSV injection.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields

from app.store.run import Change
from app.store.toll import Toll

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(table: Iterable[Toll]) -> str:
    """Write a header and one row for each cause; what is not known is left empty."""
    return "".join(_written([field.name for field in fields(Toll)], map(asdict, table)))


def changes_csv(changes: Iterable[Change]) -> Iterator[str]:
    """Write a header and one row for each change, line by line: they may be a million."""
    return _written([field.name for field in fields(Change)], map(asdict, changes))


def _written(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        yield _taken(text)
        writer.writerow({name: _cell(value) for name, value in row.items()})
    yield _taken(text)


def _taken(text: io.StringIO) -> str:
    written = text.getvalue()
    text.seek(0)
    text.truncate()
    return written


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
