"""Where the command line finds its rules and keeps what is compiled from them."""

from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from app.settings import Settings


def compiled_rules() -> Compiled:
    """Load the rulebook that the settings name."""
    settings = Settings()
    cache = settings.cache_dir
    return Compiled(load(settings.rules_dir, cache), cache)
