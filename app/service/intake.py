"""Take logs in: bodies go to the disk as they arrive, named places are checked."""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator

from app.errors import SourceError, SourceTooLarge
from app.service.objects import object_store
from app.service.stream import blocks
from app.settings import Settings
from app.store.diagnoses import Diagnoses, Origin, Place, Upload
from app.store.uploads import Uploads
from app.work.roots import LogRoots


class LogIntake:
    """The logs of requests; `uploaded_bytes` counts what came in since the start.

    `receiving` counts the bodies that are being sent just now.
    """

    def __init__(self, settings: Settings, uploads: Uploads, diagnoses: Diagnoses) -> None:
        self.uploaded_bytes = self.receiving = 0
        self.store = object_store(settings)
        self.roots = LogRoots(settings.log_roots, self.store)
        self._uploads = uploads
        self._diagnoses = diagnoses
        self._limit = settings.max_upload_bytes
        self._days = settings.retention_days

    async def receive(self, chunks: AsyncIterable[bytes]) -> Upload:
        """Keep a log that is being sent, in bounded memory."""
        self.receiving += 1
        try:
            return await self._received(chunks)
        finally:
            self.receiving -= 1

    async def _received(self, chunks: AsyncIterable[bytes]) -> Upload:
        bounded = self._bounded(blocks(chunks))
        first = await anext(bounded, b"")
        if not first:
            raise SourceError("the log is empty")
        second = await anext(bounded, b"")
        if not second:  # a small log costs one trip to a thread
            return Upload(await asyncio.to_thread(self._uploads.put, first))
        with await asyncio.to_thread(self._uploads.begin) as incoming:
            await asyncio.to_thread(incoming.write, first)
            await asyncio.to_thread(incoming.write, second)
            async for block in bounded:
                await asyncio.to_thread(incoming.write, block)
            return Upload(await asyncio.to_thread(incoming.keep))

    async def place(self, uri: str) -> Place:
        """Check a log URI."""
        return Place(str(await asyncio.to_thread(self.roots.place, uri)))

    def path(self, origin: Origin) -> str:
        """Say where a log is to be read; blocks, and raises SourceError where it is gone."""
        if isinstance(origin, Upload):
            return str(self._uploads.path(origin.sha256))
        return str(self.roots.check_again(origin.path))

    def check_space(self) -> None:
        """Raise StoreError where the disk is too full for further logs; blocks."""
        self._uploads.check_space()

    def remove_old(self) -> int:
        """Remove uploads past their time that no diagnosis waits for; blocks."""
        self.store.remove_left_behind()
        older_than = time.time() - self._days * 86_400 if self._days else 0.0
        requests = self._diagnoses.unfinished()
        in_use = {o.sha256 for r in requests for o in r.origins if isinstance(o, Upload)}
        return self._uploads.sweep(older_than, in_use)

    async def _bounded(
        self, sent: AsyncIterable[bytes | bytearray]
    ) -> AsyncIterator[bytes | bytearray]:
        """Pass a body on; raise SourceTooLarge where it passes the limit."""
        total = 0
        async for block in sent:
            total += len(block)
            if total > self._limit:
                raise SourceTooLarge(
                    f"the log is larger than {self._limit} bytes (FIRSTFAULT_MAX_UPLOAD_BYTES); "
                    "compress it, or give its place as a URI"
                )
            self.uploaded_bytes += len(block)
            yield block
