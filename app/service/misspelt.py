"""Tell of variables that were meant as settings: nobody else would, and the default counts."""

from difflib import get_close_matches

from app.settings import Settings

_PREFIX = len("FIRSTFAULT_")


def misspelt() -> list[str]:
    """Name each, with the setting that is nearest to it, if one is near."""
    return [f"{name} is no setting{_meant(name)}" for name in Settings.unknown()]


def _meant(name: str) -> str:
    near = get_close_matches(name[_PREFIX:].lower(), Settings.model_fields, 1)
    return f"; did you mean FIRSTFAULT_{near[0].upper()}?" if near else ""
