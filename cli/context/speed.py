"""How quickly the model reads on this machine."""

import asyncio
from dataclasses import dataclass

from intarsia.engine.ipc.client import EngineClient, NoEngine
from intarsia.engine.ipc.errors import EngineError

ESTIMATED_TOKENS_PER_S = 600.0
"""The default model on two cores (docs/results.md): about 1.7 s for 1,000 tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingSpeed:
    """Tokens that are read in a second, measured by a running engine or estimated."""

    tokens_per_s: float
    is_measured: bool


def reading_speed() -> ReadingSpeed:
    """Return the speed that the running engine has measured; none is started to measure it."""
    try:
        measured = asyncio.run(_ask())
    except (NoEngine, EngineError):
        measured = None
    if measured is None:
        return ReadingSpeed(tokens_per_s=ESTIMATED_TOKENS_PER_S, is_measured=False)
    return ReadingSpeed(tokens_per_s=measured, is_measured=True)


async def _ask() -> float | None:
    async with EngineClient(name="cli", start=False) as client:
        return (await client.status()).prefill_tokens_per_s
