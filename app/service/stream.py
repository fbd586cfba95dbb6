"""Take an upload in blocks: every block costs a trip to a thread, so small chunks are joined."""

from collections.abc import AsyncIterable, AsyncIterator

_BLOCK = 1 << 20  # bytes that are handed to a thread at once


async def blocks(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes | bytearray]:
    """Join chunks to blocks of about a megabyte."""
    block = bytearray()
    async for chunk in chunks:
        block += chunk
        if len(block) >= _BLOCK:
            yield block
            block = bytearray()
    if block:
        yield block
