"""Read the settings for a command; a fault in them is one of usage."""

from pathlib import Path

from pydantic import ValidationError

from app.errors import UsageError
from app.settings import Settings


def configured(**given: object) -> Settings:
    """Read the settings; what is given and not None wins. Raises UsageError with every fault."""
    try:
        return Settings.model_validate({k: v for k, v in given.items() if v is not None})
    except ValidationError as error:
        raise UsageError("\n".join(_told(error))) from error
    except OSError as error:
        raise UsageError(f"FIRSTFAULT_CONFIG: {error}") from error


def has_database(settings: Settings) -> bool:
    """Say whether there may be a database: a file that is there, or a server."""
    _, is_file, path = settings.database.partition("sqlite:///")
    return not is_file or Path(path).is_file()


def has_memory(settings: Settings) -> bool:
    """Say whether there may be past incidents: they are wanted, and there is a database."""
    return settings.memory and has_database(settings)


def _told(error: ValidationError) -> list[str]:
    """Name each setting; what belongs to none is about the file."""
    return [
        f"FIRSTFAULT_{'_'.join(map(str, item['loc'] or ['config'])).upper()}: {item['msg']}"
        for item in error.errors()
    ]
