"""Adds a server's counts to the file: once a minute, off the event loop, and at the end."""

import asyncio
import logging
from collections.abc import Callable

from intarsia.lsp.settings import Settings
from intarsia.lsp.statistics.counts import Counts, LanguageCounts
from intarsia.lsp.statistics.file import (
    add_counts,
    last_settings_file,
    statistics_file,
    write_last_settings,
)

WRITE_AFTER_S = 60.0

logger = logging.getLogger(__name__)


class Recorder:
    """The counts that are not in the file yet."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        """``settings`` returns those in force."""
        self._settings = settings
        self._counts = Counts()
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    def count(self, language: str, counts: LanguageCounts) -> None:
        """Count what became of a suggestion in a document of this language."""
        self._add(Counts(languages={language: counts}))

    def count_reason(self, kind: str) -> None:
        """Count a request without a suggestion."""
        self._add(Counts(not_shown={kind: 1}))

    async def close(self) -> None:
        """Write what is left."""
        if self._writing is not None:
            await self._writing
        await self._write()

    def _add(self, counts: Counts) -> None:
        if not self._settings().statistics:
            return
        self._counts = self._counts.plus(counts)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(WRITE_AFTER_S, self._start_writing)

    def _start_writing(self) -> None:
        self._timer = None
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        counts, self._counts = self._counts, Counts()
        if counts.is_empty:
            return
        try:
            await asyncio.to_thread(add_counts, statistics_file(), counts)
            await asyncio.to_thread(write_last_settings, last_settings_file(), self._settings())
        except OSError as error:  # a lock that is not free in time is one, too
            logger.warning("the statistics are not kept: %s", type(error).__name__)
