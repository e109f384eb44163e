"""Looks in idle time for what a user's edit has left to change, and keeps the offers up to date.

An edit is looked at once its text is at rest. Every key ends the look; no key and no request waits
for one. After an accepted offer the look goes on, with the same edit as its example.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from intarsia.infill.next_edit.find import find_offers
from intarsia.infill.next_edit.line_range import LineRange
from intarsia.infill.next_edit.plan import (
    EditedText,
    line_offsets,
    plan_next_edits,
    plan_reading,
)
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.difference import replaced_range
from intarsia.infill.syntax.nodes import num_errors
from intarsia.infill.syntax.parse import parse
from intarsia.lsp.documents.documents import Document, Documents
from intarsia.lsp.documents.windows import Windows
from intarsia.lsp.engine.connection import EngineConnection
from intarsia.lsp.fill_options import language_of
from intarsia.lsp.next_edits.idle_engine import IdleEngine, QuietUntil, quiet
from intarsia.lsp.next_edits.open_offers import OpenOffer, OpenOffers
from intarsia.lsp.next_edits.settled_text import SettledEdit, SettledText
from intarsia.lsp.next_edits.surroundings import Surroundings
from intarsia.lsp.status.next_edit_count import NextEditCount

if TYPE_CHECKING:
    from intarsia.infill.canvas.window import Window

PAUSE_S = 0.4
"""After the last key: then its text is at rest."""

LONG_PAUSE_S = 2.0
"""After a suggestion was shown or accepted: the user reads it, or waits for the next one."""

MAX_PASTED_LINES = 8

logger = logging.getLogger(__name__)


@dataclass(kw_only=True, slots=True, eq=False)
class _Watched:
    """One document."""

    settled: SettledText
    open: OpenOffers = field(default_factory=OpenOffers)
    task: asyncio.Task[None] | None = None
    timer: asyncio.TimerHandle | None = None  # of a task that has not begun
    quiet_until: float = 0.0  # time.monotonic()
    shown: str | None = None  # the text that a suggestion would insert now
    is_read: bool = False
    may_settle: bool = True  # False after undo and after a paste
    cursor_line: int | None = None  # since the last change

    @property
    def is_busy(self) -> bool:
        return self.timer is not None or (self.task is not None and not self.task.done())

    def start(self, work: Callable[[], Awaitable[None]], after_s: float = 0.0) -> None:
        """Do this work instead of what is begun; a key that ends it before then costs no task."""
        self.end()
        self.timer = asyncio.get_running_loop().call_later(after_s, self._begin, work)

    def end(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.task is not None:
            self.task.cancel()

    def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        self.timer = None
        self.task = asyncio.create_task(_guarded(work))


class NextEdits:
    """The looks and the offers of all documents."""

    def __init__(
        self, documents: Documents, engine: EngineConnection, surroundings: Surroundings
    ) -> None:
        self._documents = documents
        self._around = surroundings
        self._idle = IdleEngine(engine, surroundings.is_filling_ahead)
        self._windows = Windows()  # that looks have shown
        self._of: dict[str, _Watched] = {}  # by URI
        self._read_until = 0.0  # time.monotonic(): then the newest suggestion has been read

    async def none_due(self) -> None:
        """Return once no look waits for the engine or has it."""
        await self._idle.none_due()

    def offers_of(self, uri: str) -> Sequence[OpenOffer]:
        """Return the open offers of a document, best first."""
        watched = self._of.get(uri)
        return () if watched is None else watched.open.offers

    def document_changed(self, before: Document, after: Document, inserted: Sequence[str]) -> None:
        """Take a change of a document; ``inserted`` are the texts that it put in."""
        watched = self._watch(before)
        watched.end()
        watched.cursor_line = None
        had_offers = bool(watched.open.offers)
        accepted = watched.open.change(before.text, after.text)
        if had_offers:
            self._around.offers_changed(after, watched.open.offers)
        if accepted:
            self._accepted(watched, after, accepted)
            return
        is_suggestion = watched.shown is not None and watched.shown in inserted
        watched.shown = None
        if not is_suggestion and any(it.count("\n") > MAX_PASTED_LINES for it in inserted):
            watched.settled.reset(after.text)
        watched.may_settle = not watched.settled.is_restored(after.text)
        if watched.may_settle and after.text != watched.settled.text:
            pause_s = LONG_PAUSE_S if is_suggestion else PAUSE_S
            watched.quiet_until = time.monotonic() + pause_s
            watched.start(partial(self._settle, watched, after.uri), after_s=PAUSE_S)

    def cursor_moved(self, uri: str, line: int) -> None:
        """Take the line of the cursor, from a request: an edit may have been left."""
        watched, document = self._of.get(uri), self._documents.current(uri)
        if watched is None or document is None or watched.cursor_line == line:
            return
        watched.cursor_line = line
        is_at_rest = document.text == watched.settled.text
        if watched.may_settle and not watched.is_busy and not is_at_rest:
            watched.start(partial(self._settle, watched, uri))

    def suggested(self, document: Document, line: int, shown: str | None) -> None:
        """Take an answered request for a suggestion at a line: ``shown`` is its text, if any.

        After the first one in a document its text is read, so that it is known before an edit.
        """
        if self._around.level_of(document) is None:
            return
        watched = self._watch(document)
        watched.shown = shown
        if shown is not None:
            self._read_until = time.monotonic() + LONG_PAUSE_S
        if not watched.is_read and not watched.is_busy:
            watched.start(partial(self._read, watched, document, line), after_s=PAUSE_S)

    def dismiss(self, uri: str, id: str) -> None:
        """Close an offer; its place stays silent in this document."""
        watched, document = self._of.get(uri), self._documents.current(uri)
        if watched is not None and document is not None and watched.open.dismiss(id):
            self._around.count(NextEditCount(num_dismissed=1))
            self._around.offers_changed(document, watched.open.offers)

    async def settled(self, uri: str) -> None:
        """Return once the newest text of a document is looked at, or is not going to be."""
        watched = self._of.get(uri)
        while watched is not None and watched.is_busy:
            if watched.timer is not None:
                wait_s = watched.timer.when() - asyncio.get_running_loop().time()
                await asyncio.sleep(max(0.0, wait_s))
            elif watched.task is not None:
                await asyncio.wait({watched.task})

    def forget(self, uri: str) -> None:
        """Drop what is known of a document: it is closed, or gets no offers any more."""
        watched, document = self._of.pop(uri, None), self._documents.current(uri)
        if watched is None:
            return
        watched.end()
        if watched.open.offers and document is not None:
            self._around.offers_changed(document, ())

    def forget_all(self) -> None:
        """End all work, and drop what is known."""
        for uri in list(self._of):
            self.forget(uri)

    def _watch(self, document: Document) -> _Watched:
        if document.uri not in self._of:
            self._of[document.uri] = _Watched(settled=SettledText(document.text))
        return self._of[document.uri]

    def _accepted(
        self, watched: _Watched, document: Document, accepted: Sequence[OpenOffer]
    ) -> None:
        """Take accepted offers, in the order of their lines, and look again."""
        self._around.count(NextEditCount(num_accepted=len(accepted)))
        watched.settled.accept(document.text)
        watched.shown, watched.may_settle = None, False
        last = watched.settled.last
        if last is not None:
            *others, newest = accepted
            start = newest.start + sum(len(it.text) - (it.end - it.start) for it in others)
            lines = _lines_at(document, start, start + len(newest.text))
            watched.quiet_until = self._read_until = 0.0
            watched.start(partial(self._look, watched, document, last, lines))

    async def _settle(self, watched: _Watched, uri: str) -> None:
        """Wait until the text is at rest, then look at what its edit has left."""
        await quiet(self._until(watched))
        document = self._documents.current(uri)
        if document is None or self._around.level_of(document) is None:
            return
        if _is_unfinished(watched, document):
            return
        found = watched.settled.settle(document.text)
        if isinstance(found, NoSuggestion):
            logger.debug("no edit to look at: %s", found.reason)
            return
        self._around.count(NextEditCount(num_settled=1))
        lines = found.edit.new_range
        offsets = line_offsets(document.text)
        watched.open.follow(offsets[lines.start], offsets[lines.end])
        await self._look(watched, document, found, lines)

    async def _look(
        self, watched: _Watched, document: Document, settled: SettledEdit, newest: LineRange
    ) -> None:
        level = self._around.level_of(document)
        if level is None:
            return
        uri = document.uri
        edited = EditedText(
            before=settled.before,
            after=document.text,
            edit=settled.edit,
            newest=newest,
            silent=[_lines_at(document, *place) for place in watched.open.dismissed],
        )
        plan = plan_next_edits(edited, language_of(document), self._shown_before(uri))
        result = await find_offers(
            lambda request: self._idle.ask(request, self._until(watched), is_search=True),
            plan,
            level,
            self._around.model(),
        )
        if self._documents.current(uri) is not document:
            return
        self._windows.remember(uri, plan.window)
        watched.is_read = True
        words = f"{len(result.offers)} next edits" if result.offers else "no next edit"
        logger.info("%s%s", words, "" if result.reason is None else f": {result.reason}")
        had_offers = bool(watched.open.offers)
        watched.open.put(result.offers)
        self._around.count(NextEditCount(num_offered=len(result.offers)))
        if had_offers or result.offers:
            self._around.offers_changed(document, watched.open.offers)

    async def _read(self, watched: _Watched, document: Document, line: int) -> None:
        """Have the engine read the text around a line."""
        uri = document.uri
        watched.quiet_until = max(watched.quiet_until, time.monotonic() + PAUSE_S)
        plan = plan_reading(document.text, line, language_of(document), self._shown_before(uri))
        answer = await self._idle.ask(
            plan.request(model=self._around.model()), self._until(watched), is_search=False
        )
        watched.is_read = True
        if not isinstance(answer, NoSuggestion):
            self._windows.remember(uri, plan.window)

    def _until(self, watched: _Watched) -> QuietUntil:
        """A suggestion in one document keeps the searches of all others quiet, too."""
        return lambda: max(watched.quiet_until, self._read_until)

    def _shown_before(self, uri: str) -> "Sequence[Window]":
        return (*self._windows.of(uri), *self._around.windows_of(uri))


def _is_unfinished(watched: _Watched, document: Document) -> bool:
    """Whether the text parses worse than when it was last at rest, with the cursor still there."""
    language, former = language_of(document), watched.settled.text
    before = parse(former, language)
    after = parse(document.text, language)
    if before is None or after is None or num_errors(after) <= num_errors(before):
        return False
    start, _, end = replaced_range(former, document.text)
    changed = _lines_at(document, start, end)
    line = watched.cursor_line
    return line is None or changed.start <= line <= changed.end


def _lines_at(document: Document, start: int, end: int) -> LineRange:
    """Return the lines of whole lines that are given as offsets."""
    first, last = document.position_at(start), document.position_at(end)
    return LineRange(start=first.line, end=last.line + (last.character > 0))


async def _guarded(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception:  # the user did not request it
        logger.exception("looking for next edits failed")
