"""Open the database for a command, which may run beside a service, and one of another version."""

import contextlib

from sqlalchemy import Engine

from app.errors import StoreError, UsageError
from app.settings import Settings
from app.store.database import connect
from app.store.lock import FolderLock
from app.store.migrate import form_of, migrate


def opened(settings: Settings, *, writes: bool = False) -> Engine:
    """Connect to a database of the right form.

    An empty one is set up by a command that writes, and a file that no service has open is brought
    up to date by such a command. Raises UsageError for an empty one that is to be read, StoreError
    for one of another form, with what to do.
    """
    engine = connect(settings.database)
    form = form_of(engine)
    if form.state == "right":
        return engine
    if form.state == "empty" and not writes:
        raise UsageError("the database is empty: no service has used it (FIRSTFAULT_DATABASE_URL)")
    with contextlib.ExitStack() as held:
        if settings.is_alone and writes and form.state != "later":
            held.callback(FolderLock(settings.data_dir.absolute()).release)
        elif form.state != "empty":
            raise StoreError(form.remedy)
        migrate(engine)
    return engine
