"""`firstfault fixtures …`: turn a log that was judged wrongly into a test; check a folder of them.

The log is copied with secrets, addresses and user names masked. Masking by patterns is a help and
no promise: whoever commits the copy reads it first, and is told so.
"""

import io
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from app.cli.rulebook import compiled_rules
from app.errors import SourceError, UsageError
from app.masking import hidden
from app.model import Diagnosis
from app.pipeline import diagnose
from app.rulebook.compiled import Compiled
from app.rulebook.rulebook import OUTCOMES
from app.story import Answer, written

fixtures = typer.Typer(help="Keep logs with their right answers, as tests.")

_MOST_BYTES = 2 << 20


@fixtures.command()
def add(
    log: Annotated[Path, typer.Argument(help="A log; shorten it first.")],
    primary: Annotated[str, typer.Option(help="The cause that is right.")],
    origin: Annotated[str | None, typer.Option(help="Where the log comes from, in words.")] = None,
    story: Annotated[str | None, typer.Option(help="A name; that of the log otherwise.")] = None,
    into: Annotated[Path, typer.Option(help="The folder of all fixtures.")] = Path("fixtures"),
) -> None:
    """Copy a log and its right answer into the fixtures, with secrets masked."""
    compiled = compiled_rules()
    _refuse_unknown(primary, compiled)
    if not into.is_dir():
        raise UsageError(f"{into}: no such folder; run this in the source tree, or say --into")
    name = re.sub(r"[^a-z0-9]+", "_", (story or log.name.split(".")[0]).lower()).strip("_")
    copy = into / primary / f"{name}.log"
    if not name or copy.exists():
        raise UsageError(f"{copy}: exists; give the story another name with --story")
    masked = hidden(_text(log))
    data = io.BytesIO(masked.text.encode())
    found = diagnose([data], compiled)
    answer = written(_answer(primary, origin or "not told", found, compiled))
    try:
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(masked.text, encoding="utf-8")
        copy.with_suffix(".yaml").write_text(answer, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{copy}: cannot be written: {error.strerror or error}") from error
    print(f"{copy}: {masked.places} places masked; read it before you commit it")
    told = found.verdict.primary.cause
    if told == primary:
        print("the verdict is right already; the test keeps it so")
    else:
        print(f"the verdict is {told} as yet; fill in the lines of `evidence`, then mend the rules")


@fixtures.command()
def check(
    folder: Annotated[
        Path, typer.Argument(help="A folder of stories, in the form of the fixtures.")
    ] = Path("fixtures"),
    least: Annotated[
        float, typer.Option("--min", min=0, max=1, help="Fail below this share of right verdicts.")
    ] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print all as JSON.")] = False,
) -> None:
    """Diagnose a folder of stories; tell by domain what is found, and what of it is chosen."""
    from app.cli import fixtures_check  # its table needs rich

    scores = fixtures_check.scores_of(folder, compiled_rules())
    if as_json:
        print(fixtures_check.as_json(scores))
    else:
        fixtures_check.show(scores)
    if sum(score.right for score in scores) < least * len(scores):
        raise typer.Exit(1)


def _text(log: Path) -> str:
    try:
        with log.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise SourceError(f"{log}: cannot be read: {error.strerror}") from error
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{log}: longer than {_MOST_BYTES} bytes; cut it down to what matters")
    if not data.strip() or b"\0" in data or data.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
        raise SourceError(f"{log}: not a plain text log")
    return data.decode("utf-8", "replace")


def _refuse_unknown(cause: str, compiled: Compiled) -> None:
    known = {*compiled.rulebook.causes, *OUTCOMES}
    if cause in known:
        return
    near = get_close_matches(cause, known, n=1)
    hint = f"did you mean {near[0]}?" if near else "`firstfault rules list` shows them"
    raise UsageError(f"{cause}: no such cause; {hint}")


def _answer(primary: str, origin: str, found: Diagnosis, compiled: Compiled) -> Answer:
    """Take over what the verdict says, as far as it is right."""
    verdict = found.verdict
    right = verdict.primary.cause == primary
    action = "none" if primary in OUTCOMES else compiled.rulebook.causes[primary].recovery.action
    present = sorted({primary, *(item.cause for item in verdict.explained)} - set(OUTCOMES))
    said = verdict.primary.summary.lower()
    lines = sorted({item.line for item in verdict.evidence if item.why.lower() in said})
    known = lines if right else []
    return Answer(
        origin=origin,
        primary=primary,
        present=tuple(present if right else [primary] if primary not in OUTCOMES else []),
        evidence=tuple(known),
        action=found.plan.action if right else action,
        keeps=tuple(known),
    )
