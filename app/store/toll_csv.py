"""The table of what failures have cost, for spreadsheets."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, fields

from app.store.toll import Toll


def as_csv(table: Sequence[Toll]) -> str:
    """Write a header and one row for each cause; what is not known is left empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Toll)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in table)
    return text.getvalue()
