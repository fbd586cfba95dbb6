"""Read the settings for a command; a fault in them is one of usage."""

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


def _told(error: ValidationError) -> list[str]:
    """Name each setting; what belongs to none is about the file."""
    return [
        f"FIRSTFAULT_{'_'.join(map(str, item['loc'] or ['config'])).upper()}: {item['msg']}"
        for item in error.errors()
    ]
