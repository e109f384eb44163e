"""The fills ahead of the user: one chain of places where the user may be next, one after the other.

While the user reads a suggestion, the engine is idle. The chain uses this time, ends as soon as the
document becomes another than it foresaw, and counts what it brought.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from intarsia.engine.ipc.messages import AheadReport
from intarsia.lsp.documents import Snapshot

PAUSE_S = 0.3
"""After this time without a key or a request, longer than between two keys, a chain begins."""


@dataclass(frozen=True, slots=True)
class Step:
    """A fill of a place where the user may be next, or a better one of the place that was asked
    about: with the code of other files, or with all that may be read of the document."""

    place: Snapshot
    kind: Literal["next", "with_project", "whole"] = "next"


FillStep: TypeAlias = Callable[[Step], Awaitable[None]]
"""Takes one step, and keeps the answer for the request that may come."""


WaitForTurn: TypeAlias = Callable[[], Awaitable[None]]
"""Returns once a fill may begin."""

logger = logging.getLogger(__name__)


class AheadChain:
    """At most one chain per server. ``on_count`` gets each addition to its counts."""

    def __init__(self, on_count: Callable[[AheadReport], None]) -> None:
        self._on_count = on_count
        self._task: asyncio.Task[None] | None = None
        self._places: Sequence[Snapshot] = ()
        self._next: deque[Step] = deque()
        self._current: Step | None = None
        self._fill: FillStep | None = None
        self._wait: WaitForTurn | None = None

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def is_filling(self) -> bool:
        """Whether a fill has begun and goes on."""
        return self.is_running and self._current is not None

    def start(
        self,
        steps: Sequence[Step],
        fill: FillStep,
        *,
        begins_at: float,
        until_then: Step | None = None,
        wait: WaitForTurn | None = None,
    ) -> None:
        """Take these steps from ``begins_at`` (time.monotonic()) on; end the chain before.

        Each begins once ``wait`` has returned. A step that runs now goes on if it is at one of
        their places; the others follow it. ``until_then`` begins at once and may be cut short.
        """
        current = self._current
        goes_on = current is not None and any(_same(current.place, it.place) for it in steps)
        if not (goes_on and self.is_running):
            self.end()
            current = None
        self._places = tuple(it.place for it in steps)
        self._next = deque(it for it in steps if current is None or not _is_done_by(current, it))
        self._fill, self._wait = fill, wait
        if self._next and not self.is_running:
            self._task = asyncio.create_task(self._run(begins_at, until_then))

    def document_changed(self, uri: str, text: str) -> None:
        """End the chain, unless the document is now as one of its places foresaw it.

        ``text`` is the document's, for a cell with the code of the other cells.
        """
        if not any(it.document.uri == uri and it.text == text for it in self._places):
            self.end()

    def document_closed(self, uri: str) -> None:
        """End the chain if it is in this document."""
        if any(it.document.uri == uri for it in self._places):
            self.end()

    def end(self) -> None:
        """End the chain, if one runs; its fill is cancelled."""
        if self._task is not None:
            self._task.cancel()
        self._task, self._places, self._current = None, (), None

    def count_asked(self, seconds: float) -> None:
        """Count a fill that took, or was cancelled after, this time."""
        self._on_count(AheadReport(num_asked=1, spent_s=seconds))

    def count_hit(self, seconds: float) -> None:
        """Count a request that was answered by a fill of this time."""
        self._on_count(AheadReport(num_hits=1, used_s=seconds))

    async def _run(self, begins_at: float, until_then: Step | None) -> None:
        try:
            if until_then is not None and self._fill is not None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(begins_at - time.monotonic()):
                        await self._fill(until_then)
            await asyncio.sleep(max(0.0, begins_at - time.monotonic()))
            while self._next and self._fill is not None:
                if self._wait is not None:
                    self._current = None
                    await self._wait()
                self._current = step = self._next.popleft()
                await self._fill(step)
        except Exception:  # the user did not request it
            logger.exception("a fill ahead of the user failed")


def _is_done_by(current: Step, other: Step) -> bool:
    return current.kind == other.kind and _same(current.place, other.place)


def _same(one: Snapshot, other: Snapshot) -> bool:
    return (one.document.uri, one.offset, one.text) == (
        other.document.uri,
        other.offset,
        other.text,
    )
