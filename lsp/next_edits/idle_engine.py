"""Asks the engine for next edits when nothing else needs it, and again where a user came first."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.engine.connection import EngineConnection

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import FindNextEdits, NextEdits

AFTER_INTERRUPTION_S = 0.4

_POLL_S = 0.05

QuietUntil = Callable[[], float]
"""Returns the time.monotonic() before which nothing is to be asked."""


class IdleEngine:
    """The engine, as long as no user waits for it."""

    def __init__(self, engine: EngineConnection, is_filling_ahead: Callable[[], bool]) -> None:
        self._engine = engine
        self._is_filling_ahead = is_filling_ahead
        self._num_due = 0  # requests that wait for the engine, or have it
        self._none_due = asyncio.Event()
        self._none_due.set()

    async def none_due(self) -> None:
        """Return once no search waits for the engine or has it."""
        await self._none_due.wait()

    async def ask(
        self, request: "FindNextEdits", quiet_until: QuietUntil, *, is_search: bool
    ) -> "NextEdits | NoSuggestion":
        """Return the answer; where the engine gives none, the reason.

        One that is no search has a text read only: ``none_due`` does not wait for it.
        """
        while True:
            await quiet(quiet_until)
            with self._due() if is_search else nullcontext():
                await self._free()
                if quiet_until() > time.monotonic():
                    continue  # a suggestion has come
                answer = await self._engine.find_next_edits(request)
            if answer is not None:
                return answer
            await asyncio.sleep(AFTER_INTERRUPTION_S)

    async def _free(self) -> None:
        """Return once neither a user nor a fill ahead of the user has the engine."""
        while True:
            if not (self._engine.is_awaited or self._is_filling_ahead()):
                return
            await asyncio.sleep(_POLL_S)

    @contextmanager
    def _due(self) -> Iterator[None]:
        self._num_due += 1
        self._none_due.clear()
        try:
            yield
        finally:
            self._num_due -= 1
            if not self._num_due:
                self._none_due.set()


async def quiet(until: QuietUntil) -> None:
    """Return once that time is over; it may be put off again, or brought forward."""
    while True:
        wait_s = until() - time.monotonic()
        if wait_s <= 0:
            return
        await asyncio.sleep(min(wait_s, AFTER_INTERRUPTION_S))
