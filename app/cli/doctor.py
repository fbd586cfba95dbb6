"""`firstfault doctor`: is everything there that the service stands on?"""

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from app.cli.configured import configured
from app.cli.page import Page, printable

_FAILED = 1


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check database, disk, rules, model and the rest; the status is 1 where one fails."""
    from app.service.doctor import examined  # imports what only the service needs

    settings = configured()
    looks = []
    page = Page(sys.stdout)
    for look in examined(settings):
        looks.append(look)
        if not as_json:
            page.line(f"{look.level:5} {look.name:16} {printable(look.told)}")
            if look.remedy:
                page.line(f"{'':22} → {printable(look.remedy)}")
    if as_json:
        print(json.dumps([asdict(look) for look in looks], indent=1))
    if any(look.level == "fail" for look in looks):
        raise typer.Exit(_FAILED)
