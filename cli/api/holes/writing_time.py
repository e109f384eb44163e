"""Ends a fill early: after some time of writing, whole lines of a block are enough.

llama.cpp's clients set such a limit (``t_max_predict_ms``). It counts from the first token, so
that a long prompt may still be read, and it ends an answer only after a line end.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from itertools import takewhile
from typing import TypeAlias

import msgspec

from intarsia.engine.ipc.messages import CanvasToken, Fill, Filled, Step, Timing
from intarsia.infill.filling.options import OnStep

Ask: TypeAlias = Callable[[Fill, OnStep | None], Awaitable[Filled]]
"""Sends a fill to the engine; cancelling the await cancels the fill."""


async def fill_within(ask: Ask, request: Fill, writing_ms: int) -> Filled:
    """Return the engine's answer, or its whole lines so far once the time is over."""
    loop = asyncio.get_running_loop()
    enough: asyncio.Future[Filled] = loop.create_future()
    first_step_at: float | None = None

    def see(step: Step) -> None:
        nonlocal first_step_at
        first_step_at = loop.time() if first_step_at is None else first_step_at
        spent_ms = (loop.time() - first_step_at) * 1000
        lines = _whole_lines(step)
        if lines and spent_ms >= writing_ms and not enough.done():
            enough.set_result(_ended(step, lines, spent_ms))

    filling = asyncio.ensure_future(ask(msgspec.structs.replace(request, watch=True), see))
    try:
        await asyncio.wait({filling, enough}, return_when=asyncio.FIRST_COMPLETED)
        return await filling if filling.done() else enough.result()
    finally:
        filling.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await filling


def _whole_lines(step: Step) -> tuple[CanvasToken, ...]:
    """Return the settled tokens before the last line end among them, without that line end."""
    settled = tuple(takewhile(lambda token: token.is_settled, step.tokens))
    for index in range(len(settled) - 1, -1, -1):
        line, line_end, _ = settled[index].text.rpartition("\n")
        if line_end:
            cut = msgspec.structs.replace(settled[index], text=line)
            lines = (*settled[:index], cut)
            return lines if any(token.text.strip() for token in lines) else ()
    return ()


def _ended(step: Step, tokens: tuple[CanvasToken, ...], spent_ms: float) -> Filled:
    """Return these tokens as the engine's answer. What was read of the context is not known."""
    return Filled(
        id=step.id,
        text="".join(token.text for token in tokens),
        tokens=tokens,
        num_forwards=step.step,
        ms=Timing(queue=0.0, prefill=0.0, denoise=spent_ms, total=spent_ms),
        mean_entropy=0.0,
        finish_reason="deadline",
        model="",
        num_prefilled=0,
        num_reused=0,
    )
