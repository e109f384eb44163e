"""Keeps a project's index up to date: feeds the process that parses, and stores its answers.

A file that ends or holds up that process is left out until it changes.
"""

import queue
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index.frames import FrameError
from intarsia.workspace.index.parsed_file import with_passages
from intarsia.workspace.index.parser_process import (
    ParserEnded,
    ParserEvent,
    ParserProcess,
    ParseText,
)
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia.workspace.index.root_index import ParseJob

StartParser: TypeAlias = Callable[[Callable[[ParserEvent], None]], ParserProcess]
"""Starts a parser that gives its events to the callback."""

MAX_IN_FLIGHT = 4
MAX_PARSE_S = 30.0
"""Of one file: the process has the lowest priority, and a busy machine may hardly let it run."""
MAX_FAILED_STARTS = 3

_STEP_S = 0.02
_MAX_QUEUED = 2_000  # files that were found: then reading them goes before finding more


@dataclass(kw_only=True, slots=True)
class _InFlight:
    job: ParseJob
    number: int


class Indexer:
    """Does the work of an index in short steps. Used by one thread."""

    def __init__(
        self,
        index: ProjectIndex,
        on_event: Callable[[ParserEvent], None],
        start: StartParser = ParserProcess,
    ) -> None:
        """``on_event`` gets the parser's events in another thread: give them to ``handle``."""
        self.index = index
        self.fault = ""  # why nothing is parsed any more
        self._on_event = on_event
        self._start = start
        self._parser: ParserProcess | None = None
        self._in_flight: deque[_InFlight] = deque()
        self._again: deque[ParseJob] = deque()
        self._number = 0
        self._first_since = 0.0
        self._num_failed_starts = 0

    @property
    def is_busy(self) -> bool:
        """Whether there is something to do, or an answer to wait for."""
        return bool(self._in_flight) or self._has_work

    @property
    def is_waiting(self) -> bool:
        """Whether only the parser can say how to continue."""
        return len(self._in_flight) >= MAX_IN_FLIGHT or (
            bool(self._in_flight) and not self._has_work
        )

    def step(self) -> None:
        """Work for some tens of milliseconds, mostly less."""
        until = time.monotonic() + _STEP_S
        self._end_overdue()
        while time.monotonic() < until:
            if not self.fault and len(self._in_flight) < MAX_IN_FLIGHT and self._feed():
                continue
            if self.index.num_queued > _MAX_QUEUED or not self.index.walk_step():
                break
        self.index.settle(is_idle=not self.is_busy)

    def handle(self, event: ParserEvent) -> None:
        """Store an answer of the parser, or notice its end."""
        if isinstance(event, ParserEnded):
            self._ended(event.process)
        elif self._in_flight and self._in_flight[0].number == event.number:
            job = self._in_flight.popleft().job
            self._first_since = time.monotonic()
            self._num_failed_starts = 0
            # Passages are cut here and not in the parser: so both processes have as much to do.
            parsed = None if event.symbols is None else with_passages(job.text, event.symbols)
            job.root.finished(job, parsed, event.reason)
            if event.is_last:
                self._parser = None
                self._take_back()

    def close(self) -> None:
        if self._parser is not None:
            self._parser.close()
            self._parser = None

    @property
    def _has_work(self) -> bool:
        can_read = not self.fault and bool(self._again or self.index.num_queued)
        return can_read or self.index.is_walking

    def _feed(self) -> bool:
        """Look at one more file; return whether there was one."""
        if self._again:
            self._send(self._again.popleft())
            return True
        if not self.index.num_queued:
            return False
        job = self.index.next_job()
        if job is not None:
            self._send(job)
        return True

    def _send(self, job: ParseJob) -> None:
        self._number += 1
        request = ParseText(number=self._number, text=job.text, language_id=job.language.id)
        try:
            if self._parser is None:
                self._parser = self._start(self._on_event)
            self._parser.send(request)
        except FrameError as error:
            job.root.finished(job, None, str(error))
            return
        except OSError as error:
            self.fault = f"the parser cannot be started: {error}"
            return
        if not self._in_flight:
            self._first_since = time.monotonic()
        self._in_flight.append(_InFlight(job=job, number=self._number))

    def _end_overdue(self) -> None:
        is_overdue = time.monotonic() - self._first_since > MAX_PARSE_S
        if self._in_flight and is_overdue and self._parser is not None:
            self._parser.kill()
            self._first_since = time.monotonic()

    def _ended(self, process: ParserProcess) -> None:
        """Leave out the file that it was parsing; parse the others with a new process."""
        if process is not self._parser:
            return
        self._parser = None
        if self._in_flight:
            job = self._in_flight.popleft().job
            self._take_back()
            self._num_failed_starts += 1
            if self._num_failed_starts > MAX_FAILED_STARTS:
                self.fault = "the parser ends again and again: is the installation complete?"
            else:
                job.root.finished(job, None, "the parser ended while it parsed the file")

    def _take_back(self) -> None:
        """Send what a process did not answer to the next one."""
        self._again.extend(it.job for it in self._in_flight)
        self._in_flight.clear()


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
        started = now = time.monotonic()
        while self._indexer.is_busy or (self.index.is_waiting and now < started + _MAX_WAIT_S):
            if max_s is not None and now > started + max_s:
                self.index.settle(is_idle=True)
                return False
            self._indexer.step()
            self._handle_events()
            now = time.monotonic()
        self.index.settle(is_idle=True)
        return True

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
