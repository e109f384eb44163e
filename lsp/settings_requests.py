"""Counts the requests for settings that the client has not answered yet.

Until it has, a suggestion would follow other settings than the user's: it might read a file that
they exclude, or keep one on disk that they do not want there.
"""

import asyncio
import logging

LONGEST_WAIT_S = 2.0
"""Settings come within milliseconds, or from a client that does not answer."""

logger = logging.getLogger(__name__)


class SettingsRequests:
    """The open requests. Each ``begin`` is followed by one ``end``."""

    def __init__(self) -> None:
        self._num_open = 0
        self._settled = asyncio.Event()
        self._settled.set()

    @property
    def is_open(self) -> bool:
        """Whether an answer is missing."""
        return self._num_open > 0

    def begin(self) -> None:
        """Note that settings are about to be requested."""
        self._num_open += 1
        self._settled.clear()

    def end(self) -> None:
        """Note that the answer is in force, or that there will be none."""
        self._num_open -= 1
        if not self.is_open:
            self._settled.set()

    async def settled(self) -> None:
        """Return once all answers are in force, or after ``LONGEST_WAIT_S``."""
        if self._settled.is_set():
            return
        try:
            await asyncio.wait_for(self._settled.wait(), LONGEST_WAIT_S)
        except TimeoutError:
            self._settled.set()  # no later request waits for the same answer
            logger.warning("the client does not send its settings: those before it count")
