"""An index that a command keeps up to date by hand, without the process of the language server."""

import queue
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index.indexer import Indexer, StartParser
from intarsia.workspace.index.parser_process import ParserEvent, ParserProcess
from intarsia.workspace.index.project_index import ProjectIndex

_POLL_S = 0.5
_MAX_WAIT_S = 10.0
"""For another process that writes the same index."""


class OwnIndex:
    """``update``, then ask ``index``. Its databases are those of the language server."""

    def __init__(
        self,
        settings: Iterable[RootSettings],
        folder: Path | None = None,
        start: StartParser = ParserProcess,
    ) -> None:
        self.index = ProjectIndex(folder)
        self.index.open_roots(settings)
        self._events: queue.SimpleQueue[ParserEvent] = queue.SimpleQueue()
        self._indexer = Indexer(self.index, self._events.put, start)

    @property
    def fault(self) -> str:
        """Why nothing is parsed any more, "" if all is well."""
        return self._indexer.fault

    def update(self, *, max_s: float | None = None) -> bool:
        """Index what has changed; return whether all is done within ``max_s`` seconds."""
        started = time.monotonic()
        until = None if max_s is None else started + max_s
        while self._indexer.is_busy or self._waits(started):
            if until is not None and time.monotonic() > until:
                self.index.settle(is_idle=True)
                return False
            self._indexer.step()
            self._handle_events()
        self.index.settle(is_idle=True)
        return True

    def _waits(self, started: float) -> bool:
        return self.index.is_waiting and time.monotonic() < started + _MAX_WAIT_S

    def close(self) -> None:
        self._indexer.close()
        self.index.close()

    def _handle_events(self) -> None:
        try:
            event = (
                self._events.get(timeout=_POLL_S)
                if self._indexer.is_waiting or self.index.is_waiting
                else self._events.get_nowait()
            )
            while True:
                self._indexer.handle(event)
                event = self._events.get_nowait()
        except queue.Empty:
            return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def open_index(
    root: str | Path, *, settings: RootSettings | None = None, folder: Path | None = None
) -> OwnIndex:
    """Return the index of one folder, not yet brought up to date.

    ``folder``: where the database is; None: in the user's cache.
    """
    path = str(Path(root).absolute())
    return OwnIndex([settings or RootSettings(path=path)], folder)
