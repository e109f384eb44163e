"""When an engine ends by itself: idle for too long, replaced by an upgrade, or cut off.

An engine that was replaced, or that new clients cannot find any more, makes room as soon as no
request is open. Its clients then start, or find, another one.
"""

import asyncio
import time
from dataclasses import dataclass

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.build_id import build_id, build_on_disk, is_newer
from intarsia.engine.ipc.errors import EngineUnavailable
from intarsia.engine.service.endpoint import Listener, is_ours
from intarsia.engine.service.worker import Worker

ROOM_S = 2.0
"""An engine that is to make room ends after this time without a request: no user waits then."""

LOOK_S = 5.0
"""How often the engine looks whether clients can find it; less than a new one waits for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tenancy:
    """What an engine has at its address."""

    address: Address
    listener: Listener
    worker: Worker
    idle_timeout_s: float


class Lifetime:
    """Waits until the engine is to end. Belongs to one event loop."""

    def __init__(self, tenancy: Tenancy) -> None:
        self._tenancy = tenancy
        self._to_make_room: str | None = None  # why
        self._to_make_room_at = 0.0
        self._has_news = asyncio.Event()

    def greeted_by(self, build: str) -> None:
        """Make room for the build of a client if this engine's program was replaced by it."""
        if build != build_id() and was_replaced(by=build):
            self._make_room(f"build {build} has replaced this one")

    async def over(self) -> str:
        """Return why the engine is to end, when it is."""
        while True:
            await self._stay_reachable()
            left_s = self._seconds_left()
            if left_s <= 0:
                timeout_s = self._tenancy.idle_timeout_s
                return self._to_make_room or f"no request for {timeout_s:g} s, to free the memory"
            self._has_news.clear()
            try:
                await asyncio.wait_for(self._has_news.wait(), min(left_s, LOOK_S))
            except TimeoutError:
                continue

    def _seconds_left(self) -> float:
        idle_s = self._tenancy.worker.seconds_idle()
        left_s = self._tenancy.idle_timeout_s - idle_s
        if self._to_make_room is None:
            return left_s
        # A client that has just said hello is given the time to ask.
        return min(left_s, ROOM_S - min(idle_s, time.monotonic() - self._to_make_room_at))

    async def _stay_reachable(self) -> None:
        """Listen again if the socket was removed, unless the address is another engine's by now."""
        if not is_ours(self._tenancy.address):
            self._make_room("the engine's folder was removed")
        elif not self._tenancy.listener.is_reachable():
            try:
                await self._tenancy.listener.listen()
            except (EngineUnavailable, OSError) as error:
                self._make_room(f"the engine's socket was removed: {error}")

    def _make_room(self, reason: str) -> None:
        if self._to_make_room is None:
            self._to_make_room = reason
            self._to_make_room_at = time.monotonic()
            self._has_news.set()


def was_replaced(*, by: str) -> bool:
    """Tell whether a client's build shows that the program of this engine was upgraded.

    Two installations of one version, side by side, share the engine that runs.
    """
    return is_newer(by, than=build_id()) or build_on_disk() != build_id()
