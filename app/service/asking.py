"""From settings to what a process is told of the language model."""

from app.reason.budget import Limits, Prices
from app.reason.desk import Endpoint
from app.settings import Settings
from app.work.asking import Asking


def asking(settings: Settings, *, keeps_calls: bool = True) -> Asking | None:
    """Say which model is to be asked, and how; None where none is configured."""
    if settings.model is None:
        return None
    key = settings.model_api_key
    return Asking(
        endpoint=Endpoint(
            model=settings.model,
            base_url=settings.model_base_url,
            api_key=key.get_secret_value() if key else None,
            context_tokens=settings.model_context_tokens,
            seconds=settings.model_seconds,
            parallel=settings.model_parallel,
            prices=Prices(*(settings.model_prices or (0.0, 0.0))),
            hides_addresses=settings.model_hides_addresses,
        ),
        limits=Limits(settings.model_tokens, settings.model_day_tokens, settings.model_day_cost),
        prompts=settings.prompts_dir.absolute(),
        database=settings.database if keeps_calls else None,
    )
