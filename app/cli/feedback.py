"""`firstfault feedback`: confirm or correct an answer of the service."""

import getpass
from typing import Annotated

import typer

from app.cli.configured import configured, has_database
from app.errors import UsageError


def feedback(
    id: Annotated[str, typer.Argument(metavar="ID", help="Id of a diagnosis.")],
    confirm: Annotated[bool, typer.Option("--confirm", help="The answer is right.")] = False,
    cause: Annotated[str | None, typer.Option(help="The cause that is right instead.")] = None,
    note: Annotated[str, typer.Option(help="How you know.")] = "",
    by: Annotated[
        str | None, typer.Option(help="Who says so.", show_default="the user of this machine")
    ] = None,
) -> None:
    """Confirm or correct an answer; a running service learns from it within half a minute."""
    if confirm == (cause is not None):
        raise UsageError("say --confirm, or --cause with the right one")
    settings = configured()
    if not has_database(settings):
        raise UsageError("there are no diagnoses: no service has run here (FIRSTFAULT_DATA_DIR)")
    from app.cli.database import opened  # a database takes half a second to import
    from app.learn.word import weighed
    from app.rulebook.load import load
    from app.store.diagnoses import Diagnoses
    from app.store.feedback import Feedbacks, Word

    engine = opened(settings, writes=True)
    Diagnoses(engine).find(id)
    feedbacks = Feedbacks(engine)
    book = load(settings.rules_dir, settings.cache_dir, settings.learned_dir)
    verdict: Word = "confirm" if confirm else "correct"
    said = feedbacks.said(id)
    kept = feedbacks.add(weighed(id, verdict, cause, by or getpass.getuser(), note, said, book))
    right = "is right" if kept.verdict == "confirm" else f"is wrong; {kept.cause} is right"
    print(f"{kept.said_cause} {right}")
    if kept.writing:
        print("rules did not know it: a rule will be written, if a model is configured")
