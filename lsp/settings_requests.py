"""Counts the requests for settings that the client has not answered yet.

Until it has, a suggestion would follow other settings than the user's: it might read a file that
they exclude, or keep one on disk that they do not want there. Not every client answers, though.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable

LONGEST_WAIT_S = 2.0
"""Settings come within milliseconds, or from a client that does not answer."""

logger = logging.getLogger(__name__)


class SettingsRequests:
    """The open requests. Each ``begin`` is followed by one ``end`` with the number that it gave."""

    def __init__(self, on_given_up: Callable[[], None] = lambda: None) -> None:
        """``on_given_up`` is called when an answer is not waited for any longer."""
        self._on_given_up = on_given_up
        self._numbers = itertools.count()
        self._open: dict[int, asyncio.TimerHandle] = {}
        self._settled = asyncio.Event()
        self._settled.set()

    @property
    def is_open(self) -> bool:
        """Whether an answer is missing that is still waited for."""
        return bool(self._open)

    def is_waited_for(self, number: int) -> bool:
        """Whether this request's answer is missing and still waited for."""
        return number in self._open

    def begin(self) -> int:
        """Note that settings are about to be requested; wait for them for ``LONGEST_WAIT_S``."""
        number, loop = next(self._numbers), asyncio.get_running_loop()
        self._open[number] = loop.call_later(LONGEST_WAIT_S, self._give_up, number)
        self._settled.clear()
        return number

    def end(self, number: int) -> None:
        """Note that the answer is in force, or that there will be none. A late one is in force."""
        timer = self._open.pop(number, None)
        if timer is not None:
            timer.cancel()
        if not self._open:
            self._settled.set()

    def end_all(self) -> None:
        """Wait for no answer any longer."""
        for number in list(self._open):
            self.end(number)

    async def settled(self) -> None:
        """Return once each answer is in force, or came too late."""
        await self._settled.wait()

    def _give_up(self, number: int) -> None:
        logger.warning("the client does not send its settings: those before it count")
        self.end(number)
        self._on_given_up()
