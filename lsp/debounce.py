"""Wait for a pause in typing: the next key cancels the wait along with its request."""

import asyncio


async def pause(debounce_ms: int) -> None:
    """Return after so many milliseconds."""
    if debounce_ms:
        await asyncio.sleep(debounce_ms / 1000)
