"""Where an embedded index lies, and the mark beside it: its last user died of it."""

from pathlib import Path

_FOLDER = "chroma"


def index_folder(memory: Path) -> Path:
    """Name the folder of the index within that of memory."""
    return memory / _FOLDER


def mark_of(folder: Path) -> Path:
    """Name the file that stands while an index is opened, and after a crash."""
    return folder.with_name(f"{folder.name}.opening")
