"""Keeps a project's index up to date: feeds the process that parses, and stores its answers.

A file that ends or holds up that process is left out until it changes.
"""

import queue
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeAlias

from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index.parser_process import Parsed, Parser
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia.workspace.index.store import with_passages

StartParser: TypeAlias = Callable[[Callable[[Parsed], None]], Parser]
"""Starts a parser that gives what it has parsed to the callback."""

MAX_IN_FLIGHT = 4

_STEP_S = 0.02
_MAX_QUEUED = 2_000  # files that were found: then reading them goes before finding more


class Indexer:
    """Does the work of an index in short steps. Used by one thread."""

    def __init__(
        self, index: ProjectIndex, on_parsed: Callable[[Parsed], None], start: StartParser = Parser
    ) -> None:
        """``on_parsed`` is called in another thread: give what it gets to ``handle``."""
        self.index = index
        self.fault = ""  # why nothing is parsed any more
        self._parser = start(on_parsed)
        self._num_in_flight = 0

    @property
    def is_busy(self) -> bool:
        """Whether there is something to do, or an answer to wait for."""
        return self._num_in_flight > 0 or self._has_work

    @property
    def is_waiting(self) -> bool:
        """Whether only the parser can say how to continue."""
        num = self._num_in_flight
        return num >= MAX_IN_FLIGHT or (num > 0 and not self._has_work)

    def step(self) -> None:
        """Work for some tens of milliseconds, mostly less."""
        until = time.monotonic() + _STEP_S
        while time.monotonic() < until:
            if not self.fault and self._num_in_flight < MAX_IN_FLIGHT and self._feed():
                continue
            if self.index.num_queued > _MAX_QUEUED or not self.index.walk_step():
                break
        self.index.settle(is_idle=not self.is_busy)

    def handle(self, parsed: Parsed) -> None:
        """Store what was parsed."""
        self._num_in_flight -= 1
        if parsed.fault:
            self.fault = parsed.fault
            return
        job, symbols = parsed.job, parsed.symbols
        # Passages are cut here and not in the parser: so both processes have as much to do.
        found = None if symbols is None else with_passages(job.text, symbols)
        job.root.finished(job, found, parsed.reason)

    def close(self) -> None:
        self._parser.close()

    @property
    def _has_work(self) -> bool:
        return self.index.is_walking or (not self.fault and self.index.num_queued > 0)

    def _feed(self) -> bool:
        """Look at one more file; return whether there was one."""
        if not self.index.num_queued:
            return False
        job = self.index.next_job()
        if job is not None:
            self._num_in_flight += 1
            self._parser.send(job)
        return True


_POLL_S = 0.5
_MAX_WAIT_S = 10.0
"""For another process that writes the same index."""


class OwnIndex:
    """``update``, then ask ``index``. Its databases are those of the language server."""

    def __init__(
        self,
        settings: Iterable[RootSettings],
        folder: Path | None = None,
        start: StartParser = Parser,
    ) -> None:
        self.index = ProjectIndex(folder)
        self.index.open_roots(settings)
        self._parsed: queue.SimpleQueue[Parsed] = queue.SimpleQueue()
        self._indexer = Indexer(self.index, self._parsed.put, start)

    @property
    def fault(self) -> str:
        """Why nothing is parsed any more, "" if all is well."""
        return self._indexer.fault

    def update(self, *, max_s: float | None = None) -> bool:
        """Index what has changed; return whether all is done within ``max_s`` seconds."""
        started = now = time.monotonic()
        while self._indexer.is_busy or (self.index.is_waiting and now < started + _MAX_WAIT_S):
            if max_s is not None and now > started + max_s:
                self.index.settle(is_idle=True)
                return False
            self._indexer.step()
            self._handle_parsed()
            now = time.monotonic()
        self.index.settle(is_idle=True)
        return True

    def close(self) -> None:
        self._indexer.close()
        self.index.close()

    def _handle_parsed(self) -> None:
        may_wait = self._indexer.is_waiting or self.index.is_waiting
        with suppress(queue.Empty):
            while True:
                self._indexer.handle(self._parsed.get(timeout=_POLL_S if may_wait else 0))
                may_wait = False

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
