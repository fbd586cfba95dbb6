"""Hold the data folder, so that two services never take up the same work."""

import fcntl
import os
from pathlib import Path

from app.errors import StoreError


class FolderLock:
    """The one claim on a data folder; the system lifts it when the process dies, however."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file = os.open(folder / "serve.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(f"the data folder {folder} cannot be used: {error}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._file, 32).decode("ascii", "replace") or "unknown"
            os.close(self._file)
            raise StoreError(
                f"the data folder {folder} is served by another process (pid {holder}); "
                "stop it, or set FIRSTFAULT_DATA_DIR to another folder"
            ) from error
        os.truncate(self._file, 0)
        os.write(self._file, str(os.getpid()).encode())

    def release(self) -> None:
        """Let another process have the folder."""
        os.close(self._file)
