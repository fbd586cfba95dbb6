"""The object store that the settings name."""

from app.settings import Settings
from app.work.objects import ObjectStore


def object_store(settings: Settings) -> ObjectStore:
    """Say where logs of `s3://` URIs are, and where they are copied to; nothing is opened."""
    return ObjectStore(
        endpoint=settings.s3_endpoint,
        folder=settings.data_dir.absolute() / "fetched",
        max_bytes=settings.max_log_bytes,
        min_free_bytes=settings.min_free_bytes,
    )
