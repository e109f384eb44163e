"""The state of one document for next edits, and the work done for it: one piece at a time."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from intarsia.engine.ipc.messages import FindNextEdits, NextEdits
from intarsia.infill.next_edit.settled_edit import Hunk, LineRange, settled_edit
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import replaced_range
from intarsia.infill.syntax.tree import num_errors, parse
from intarsia.lsp.documents import Document
from intarsia.lsp.engine_connection import EngineConnection
from intarsia.lsp.next_edits.open_offers import OpenOffers

_MAX_REMEMBERED = 1_000
"""Texts of the last changes, by which undo and redo are recognized."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SettledEdit:
    """An edit, and the text before it."""

    before: str
    edit: Hunk


class SettledText:
    """The text of one document as it was last at rest, and the edit that led there."""

    def __init__(self, text: str) -> None:
        self.text = text  # at rest, with changes of white space that no edit holds yet
        self.last: SettledEdit | None = None
        self._settled = text  # without such changes
        self._remembered = deque([hash(text)], maxlen=_MAX_REMEMBERED)
        self._at_rest = deque([hash(text)], maxlen=_MAX_REMEMBERED)

    def is_restored(self, text: str) -> bool:
        """Record the text after a change; return whether it was there before, by undo or redo.

        One that was at rest then is at rest again.
        """
        known = hash(text)
        is_known = known in self._remembered
        self._remembered.append(known)
        if known in self._at_rest and text != self.text:
            self.reset(text)
        return is_known

    def settle(self, text: str) -> SettledEdit | NoSuggestion:
        """Adopt a text at rest; return the edit that led to it, or why there is none."""
        befores = [self._settled, self.text]
        if self.last is not None and self._goes_on(self.last.edit, text):
            befores.insert(0, self.last.before)
        self._at_rest.append(hash(text))
        found: Hunk | NoSuggestion = NoSuggestion(reason="nothing has changed")
        for before in befores:
            found = settled_edit(before, text)
            if isinstance(found, Hunk):
                self.text = self._settled = text
                self.last = SettledEdit(before=before, edit=found)
                return self.last
        if settled_edit(self.text, text) == _ONLY_BLANKS:
            self.text = text
        elif self.text != text:
            self.reset(text)
        assert isinstance(found, NoSuggestion), "an edit has been returned"
        return found

    def accept(self, text: str) -> None:
        """Adopt a text that differs by accepted offers: these belong to the last edit."""
        self.text = self._settled = text
        self._remembered.append(hash(text))
        self._at_rest.append(hash(text))

    def finish(self, text: str) -> None:
        """Adopt a text in which a rename has made the rest of the edit: the edit is over."""
        self.accept(text)
        self.last = None

    def reset(self, text: str) -> None:
        """Adopt a text that no edit led to."""
        self.text = self._settled = text
        self.last = None

    def _goes_on(self, edit: Hunk, text: str) -> bool:
        """Whether the text differs from the last one at rest within the lines of the last edit."""
        more = settled_edit(self.text, text)
        if isinstance(more, NoSuggestion):
            return False
        return more.start < edit.new_end and more.end > edit.new_start


_ONLY_BLANKS = NoSuggestion(reason="only white space has changed")


LONGEST_HOLD_S = 30.0


class HeldChanges:
    """The documents that have changed since a rename began, as they were before."""

    def __init__(self) -> None:
        self._before: dict[str, Document] = {}  # by URI
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, give_up: Callable[[], None]) -> None:
        """Hold changes from now on; ``give_up`` is called if nothing ends this."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(LONGEST_HOLD_S, give_up)

    def hold(self, before: Document) -> bool:
        """Hold a change of this version of a document; return False if no rename runs."""
        if self._timer is None:
            return False
        self._before.setdefault(before.uri, before)
        return True

    def is_held(self, uri: str) -> bool:
        return uri in self._before

    def forget(self, uri: str) -> None:
        """Drop a document that is closed."""
        self._before.pop(uri, None)

    def end(self) -> Mapping[str, Document]:
        """Return the changed documents by URI, as they were before; hold nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        before, self._before = self._before, {}
        return before


logger = logging.getLogger(__name__)


def _set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass(frozen=True, kw_only=True, slots=True)
class Elsewhere:
    """How much a rename has left in other files."""

    new_name: str
    files: int
    uses: int


@dataclass(kw_only=True, slots=True, eq=False)
class Watched:
    """One document."""

    settled: SettledText
    open: OpenOffers = field(default_factory=OpenOffers)
    elsewhere: Elsewhere | None = None
    next_uri: str | None = None  # of the document where the last edit goes on
    task: asyncio.Task[None] | None = None
    timer: asyncio.TimerHandle | None = None  # of a task that has not begun
    answered: asyncio.Event = field(default_factory=_set_event)  # nothing is due, or offers are in
    quiet_until: float = 0.0  # time.monotonic()
    shown: str | None = None  # the text that a suggestion would insert now
    is_read: bool = False
    may_settle: bool = True
    is_restored: bool = False  # by undo or redo: until the next change nothing is offered
    cursor_line: int | None = None  # since the last change

    @property
    def is_told(self) -> bool:
        """Whether the client knows of something that this document's last edit has left."""
        return bool(self.open.offers or self.elsewhere or self.next_uri)

    @property
    def is_busy(self) -> bool:
        return self.timer is not None or (self.task is not None and not self.task.done())

    def start(self, work: Callable[[], Awaitable[None]], after_s: float = 0.0) -> None:
        """Do this work instead of what is begun; a key that ends it before then costs no task."""
        self.end()
        self.answered.clear()
        self.timer = asyncio.get_running_loop().call_later(after_s, self._begin, work)

    def end(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.task is not None:
            self.task.cancel()
            self.task = None
        self.answered.set()

    def is_unfinished(self, document: Document) -> bool:
        """Whether the text parses worse than when it was last at rest, with the cursor there."""
        language, former = document.language, self.settled.text
        before = parse(former, language)
        after = parse(document.text, language)
        if before is None or after is None or num_errors(after) <= num_errors(before):
            return False
        start, _, end = replaced_range(former, document.text)
        changed = lines_at(document, start, end)
        line = self.cursor_line
        return line is None or changed.start <= line <= changed.end

    def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        self.timer = None
        self.task = asyncio.create_task(_guarded(work))
        self.task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        if task is self.task:
            self.answered.set()


def lines_at(document: Document, start: int, end: int) -> LineRange:
    """Return the lines of whole lines that are given as offsets."""
    first, last = document.position_at(start), document.position_at(end)
    return LineRange(start=first.line, end=last.line + (last.character > 0))


async def _guarded(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception:  # the user did not request it
        logger.exception("looking for next edits failed")


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
        self, request: FindNextEdits, quiet_until: QuietUntil, *, is_search: bool
    ) -> NextEdits | NoSuggestion:
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
