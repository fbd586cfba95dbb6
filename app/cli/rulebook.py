"""Where the command line finds its rules and keeps what is compiled from them."""

from app.cli.configured import configured
from app.rulebook.compiled import Compiled
from app.rulebook.load import load


def compiled_rules() -> Compiled:
    """Load the rulebook that the settings name."""
    settings = configured()
    cache = settings.cache_dir
    return Compiled(load(settings.rules_dir, cache, settings.learned_dir), cache)
