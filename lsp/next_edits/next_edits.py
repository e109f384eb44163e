"""Looks in idle time for what a user's edit has left to change, and keeps the offers up to date.

An edit is looked at once its text is at rest. Every key ends the look; no key and no request waits
for one. After an accepted offer the look goes on, with the same edit as its example. Where a file
has no place left, the edit is offered again, if bold offers are wanted, in another open file of its
language and folder.
"""

import asyncio
import logging
import re
import time
from collections.abc import Collection, Sequence
from functools import partial
from typing import Literal, Self

from lsprotocol import types

from intarsia.infill.canvas import Window
from intarsia.infill.next_edit.offer import Level, NextEditResult, find_offers
from intarsia.infill.next_edit.plan import (
    EditedText,
    NextEditPlan,
    line_offsets,
    plan_elsewhere,
    plan_next_edits,
    plan_reading,
)
from intarsia.infill.next_edit.renaming import (
    Rename,
    is_same_rename,
    rename_between,
    renamed_uses,
)
from intarsia.infill.next_edit.settled_edit import MAX_TEXT_CHARS, Hunk, LineRange, settled_edit
from intarsia.infill.replacement import ChangedFile
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import replaced_name
from intarsia.lsp.documents import Document, DocumentChange, Snapshot, settings_folder_of
from intarsia.lsp.ghost_text import RequestOutcome
from intarsia.lsp.next_edits.messages import offered_edits, range_of
from intarsia.lsp.next_edits.open_offers import OpenOffer
from intarsia.lsp.next_edits.watched import (
    Elsewhere,
    HeldChanges,
    IdleEngine,
    QuietUntil,
    SettledEdit,
    SettledText,
    Watched,
    lines_at,
    quiet,
)
from intarsia.lsp.project.project_contexts import ProjectContexts
from intarsia.lsp.protocol_extensions import NEXT_EDITS
from intarsia.lsp.session import Feature, Session
from intarsia.lsp.snapshots import parse_if_long, read_text, refusal_of
from intarsia.lsp.status import NextEditCounts
from intarsia.lsp.suggestions import Suggestions, Windows

PAUSE_S = 0.4
"""After the last key: then its text is at rest."""

LONG_PAUSE_S = 2.0
"""After a suggestion was shown or accepted: the user reads it, or waits for the next one."""

MAX_PASTED_LINES = 8

MAX_ELSEWHERE = 3
"""Other files that the engine is asked about: their places have most in common with the edit."""

_FIRST_WORD = re.compile(r"\A[\w$]+")
_REPLACED = NoSuggestion(reason="it would bring back the name that was just replaced")
_ONE_WORD = NoSuggestion(reason="a next edit goes before a suggestion of one word")

logger = logging.getLogger(__name__)


class NextEdits(Feature):
    """The looks and the offers of all documents."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._documents = session.documents
        self._suggestions = session.feature(Suggestions)
        self._projects = session.feature(ProjectContexts)
        self._idle = IdleEngine(session.engine, lambda: self._suggestions.ahead.is_filling)
        self.none_due = self._idle.none_due
        self._windows = Windows()  # that looks have shown
        self._of: dict[str, Watched] = {}  # by URI
        self._held = HeldChanges()
        self._read_until = 0.0  # time.monotonic(): then the newest suggestion has been read

    @classmethod
    def for_session(cls, session: Session) -> Self:
        return cls(session)

    def changed(self, change: DocumentChange) -> None:
        if self._wanted(change.after) != "off":
            inserted = [it.text for it in change.changes]
            self.document_changed(change.before, change.after, inserted)

    def answered(self, snapshot: Snapshot, outcome: RequestOutcome) -> None:
        if snapshot.is_current(self._documents):
            shown = next((ghost.text for ghost in outcome.ghosts), None)
            line = snapshot.document.position_at(snapshot.place).line
            self.suggested(snapshot.document, line, shown)

    def configured(self, uris: Collection[str] | None) -> None:
        for uri in list(self._of) if uris is None else uris:
            self.closed(uri)

    async def close(self) -> None:
        self.configured(None)

    def offers_of(self, uri: str) -> Sequence[OpenOffer]:
        """Return the open offers of a document, best first.

        None while a rename changes it, and right after undo and redo.
        """
        watched = self._shown(uri)
        return () if watched is None or self._held.is_held(uri) else watched.open.offers

    def next_in(self, uri: str) -> types.Location | None:
        """Return where the last edit of a document goes on in another one."""
        watched = self._shown(uri)
        other = None if watched is None or not watched.next_uri else watched.next_uri
        document = None if other is None else self._documents.current(other)
        offers = () if document is None else self.offers_of(document.uri)
        if document is None or not offers:
            return None
        return types.Location(uri=document.uri, range=range_of(document, offers[0]))

    def rename_in(self, document: Document) -> Rename | None:
        """Return the rename that the last edit began, None unless it has left something to do."""
        watched = self._shown(document.uri)
        if watched is None or not watched.is_told:
            return None
        rename = _rename_of(watched, document)
        is_left = rename is not None and (watched.elsewhere or self.uses_here(document, rename))
        return rename if is_left else None

    def uses_here(self, document: Document, rename: Rename) -> Sequence[OpenOffer]:
        """Return the open offers that go on with a rename in its own document."""
        language, text = document.language, document.text
        return [
            it
            for it in self.offers_of(document.uri)
            if is_same_rename(rename, text[it.start : it.end], it.text, language)
        ]

    def elsewhere_in(self, uri: str) -> Elsewhere | None:
        """Return how much a rename in a document has left in other files, None for nothing."""
        watched = self._shown(uri)
        return None if watched is None else watched.elsewhere

    async def uses_elsewhere(self, document: Document) -> Sequence[ChangedFile]:
        """Return what a rename in a document has left in other files, as these are now."""
        watched = self._of.get(document.uri)
        rename = None if watched is None else _rename_of(watched, document)
        if watched is None or rename is None or watched.settled.last is None:
            return ()
        return await self._projects.uses_elsewhere(document, watched.settled.last.before, rename)

    def goes_before(
        self, uri: str, ghost: str, replaced: Sequence[tuple[str, str]]
    ) -> NoSuggestion | None:
        """Return why an edit, which has ``replaced`` this at the cursor, forbids a ghost text."""
        word = "".join(_FIRST_WORD.findall(ghost))
        if any(typed + word == old for old, typed in replaced):
            return _REPLACED
        return _ONE_WORD if word == ghost and self.offers_of(uri) else None

    def replaced_at(self, snapshot: Snapshot) -> Sequence[tuple[str, str]]:
        """Return what the edit at hand replaces at the cursor: old names, with what is typed."""
        watched = self._of.get(snapshot.document.uri)
        if watched is None:
            return ()
        last, text, place = watched.settled.last, snapshot.document.text, snapshot.place
        befores = (watched.settled.text, watched.settled.text if last is None else last.before)
        found = (replaced_name(it, text, place) for it in dict.fromkeys(befores))
        return [it for it in found if it is not None]

    def dismissed_suggestion(self) -> None:
        """Record that the newest suggestion was dismissed: the user does not read it any more."""
        self._read_until = 0.0

    def document_changed(self, before: Document, after: Document, inserted: Sequence[str]) -> None:
        """Follow a change of a document; ``inserted`` are the texts that it put in."""
        watched = self._watch(before)
        watched.end()
        if self._held.hold(before):
            return
        watched.cursor_line = None
        was_told = watched.is_told
        if watched.open.goes_on(before.text, after.text):
            self._end_next(watched)
        accepted = watched.open.change(before.text, after.text)
        watched.is_restored = not accepted and watched.settled.is_restored(after.text)
        if watched.elsewhere is not None:
            rename = _rename_of(watched, after)
            if rename is None or rename.new_name != watched.elsewhere.new_name:
                watched.elsewhere = None
        if was_told:
            self._offers_changed(after)
            self._tell_of(after.uri)
        if accepted:
            self._accepted(watched, (before, after), accepted)
            return
        is_suggestion = watched.shown is not None and watched.shown in inserted
        watched.shown = None
        if not is_suggestion and any(it.count("\n") > MAX_PASTED_LINES for it in inserted):
            watched.settled.reset(after.text)
        watched.may_settle = not watched.is_restored
        if watched.may_settle and after.text != watched.settled.text:
            pause_s = LONG_PAUSE_S if is_suggestion else PAUSE_S
            watched.quiet_until = time.monotonic() + pause_s
            watched.start(partial(self._settle, watched, after.uri), after_s=PAUSE_S)

    def cursor_moved(self, uri: str, line: int) -> None:
        """Follow the cursor to a line, from a request: an edit may have been left."""
        watched, document = self._of.get(uri), self._documents.current(uri)
        if watched is None or document is None or watched.cursor_line == line:
            return
        watched.cursor_line = line
        is_at_rest = document.text == watched.settled.text
        may_settle = watched.may_settle and not self._held.is_held(uri)
        if may_settle and not watched.is_busy and not is_at_rest:
            watched.start(partial(self._settle, watched, uri))

    def suggested(self, document: Document, line: int, shown: str | None) -> None:
        """Follow an answered request for a suggestion at a line: ``shown`` is its text, if any.

        After the first one in a document its text is read, so that it is known before an edit.
        """
        if self._level_of(document) is None:
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
            self._offers_changed(document)
            self._tell_of(uri)
            self._count(dismissed=1)

    def hold(self) -> None:
        """Look at no change of any document until ``release``: a rename makes them."""
        self._held.begin(partial(self.release, is_renamed=False))

    def release(self, *, is_renamed: bool) -> None:
        """Release the changes since ``hold``; where nothing was renamed, as changes of the user."""
        for uri, before in self._held.end().items():
            after = self._documents.current(uri)
            if after is None:
                continue
            if is_renamed:
                self._renamed(before, after)
            elif after.text != before.text:
                self.document_changed(before, after, ())
            elif uri in self._of and self._of[uri].is_told:  # as before, in a newer version
                self._offers_changed(after)

    async def settled(self, uri: str) -> None:
        """Return once the newest text of a document is looked at, or is not going to be.

        Further places may follow the first one.
        """
        watched = self._of.get(uri)
        while watched is not None and not watched.answered.is_set():
            await watched.answered.wait()

    def closed(self, uri: str) -> None:
        self._held.forget(uri)
        watched, document = self._of.pop(uri, None), self._documents.current(uri)
        if watched is None:
            return
        watched.end()
        if watched.is_told and document is not None:
            self._offers_changed(document)
        self._tell_of(uri)

    def _wanted(self, document: Document) -> Level | Literal["off"]:
        settings, is_cell = self._session.settings_of(document), document.is_cell
        return settings.next_edit if settings.automatic and not is_cell else "off"

    def _level_of(self, document: Document) -> Level | None:
        """Return how sure an offer must be, None for a document that gets none."""
        level = self._wanted(document)
        if level == "off" or self._session.settings_requests.is_open:
            return None
        return None if refusal_of(self._session, document) else level

    def _offers_changed(self, document: Document) -> None:
        """Send the offers of a document to a client that draws them."""
        if self._session.extensions.next_edits:
            rename, elsewhere = self.rename_in(document), self.elsewhere_in(document.uri)
            offered = offered_edits(
                document,
                self.offers_of(document.uri),
                rename,
                elsewhere,
                self.next_in(document.uri),
            )
            self._session.notify(NEXT_EDITS, offered)

    def _tell_of(self, other_uri: str) -> None:
        """Send the offers of the documents whose edit goes on in another one, which has changed."""
        for uri, watched in self._of.items():
            document = self._documents.current(uri)
            if watched.next_uri == other_uri and document is not None:
                other = self._of.get(other_uri)
                watched.next_uri = other_uri if other and other.open.offers else None
                self._offers_changed(document)

    def _end_next(self, watched: Watched) -> None:
        """Close the offers in the document where an edit went on: the edit has become another."""
        other, watched.next_uri = watched.next_uri, None
        document = None if other is None else self._documents.current(other)
        if document is not None:
            self._watch(document).open.put(())
            self._offers_changed(document)

    def _count(self, **counts: int) -> None:
        self._session.status.count_next_edits(NextEditCounts(**counts))

    def _shown(self, uri: str) -> Watched | None:
        """Return what is known of a document, None where nothing of it is to be shown now."""
        watched = self._of.get(uri)
        return None if watched is None or watched.is_restored else watched

    def _watch(self, document: Document) -> Watched:
        if document.uri not in self._of:
            self._of[document.uri] = Watched(settled=SettledText(document.text))
        return self._of[document.uri]

    def _accepted(
        self, watched: Watched, change: tuple[Document, Document], accepted: Sequence[OpenOffer]
    ) -> None:
        """Record accepted offers, in the order of their lines, and look again."""
        before, document = change
        self._count(accepted=len(accepted))
        watched.settled.accept(document.text)
        watched.shown, watched.may_settle = None, False
        if watched.open.is_from_elsewhere:  # from here on the edit is this document's own
            edit = settled_edit(before.text, document.text)
            watched.settled.last = (
                SettledEdit(before=before.text, edit=edit) if isinstance(edit, Hunk) else None
            )
        last = watched.settled.last
        if last is not None:
            *others, newest = accepted
            start = newest.start + sum(len(it.text) - (it.end - it.start) for it in others)
            end = start + len(newest.text)
            lines = lines_at(document, start, end)
            if watched.open.is_from_elsewhere:
                watched.open.follow((start, end))
            watched.quiet_until = self._read_until = 0.0
            watched.start(partial(self._look, watched, document, last, lines))

    def _renamed(self, before: Document, after: Document) -> None:
        """Adopt a document as a rename has left it: the edit is over."""
        watched = self._watch(before)
        if watched.is_told:
            self._end_next(watched)
            watched.open.put(())
            watched.elsewhere = None
            self._offers_changed(after)
            self._tell_of(after.uri)
        watched.open.change(before.text, after.text)
        watched.settled.finish(after.text)
        watched.shown, watched.may_settle, watched.cursor_line = None, False, None
        watched.is_restored = False

    async def _settle(self, watched: Watched, uri: str) -> None:
        """Wait until the text is at rest, then look at what its edit has left."""
        await quiet(lambda: watched.quiet_until)
        document = self._documents.current(uri)
        if document is None or self._level_of(document) is None:
            return
        language = document.language
        await parse_if_long(watched.settled.text, 0, language)
        await parse_if_long(document.text, 0, language)
        if watched.is_unfinished(document):
            return
        found = watched.settled.settle(document.text)
        if isinstance(found, NoSuggestion):
            logger.debug("no edit to look at: %s", found.reason)
            return
        self._count(settled=1)
        await self._look(watched, document, found, found.edit.new_range, is_new=True)

    async def _look(
        self,
        watched: Watched,
        document: Document,
        settled: SettledEdit,
        newest: LineRange,
        *,
        is_new: bool = False,
    ) -> None:
        """Look for offers. An edit that leaves nothing to change closes no offer of another."""
        level = self._level_of(document)
        if level is None:
            return
        edited = EditedText(
            before=settled.before,
            after=document.text,
            edit=settled.edit,
            newest=newest,
            silent=[lines_at(document, *place) for place in watched.open.dismissed],
        )
        follows, language = newest if is_new else None, document.language
        renamed = await read_text(document.text, partial(renamed_uses, edited, language))
        if renamed and self._documents.current(document.uri) is document:
            self._put(watched, document, NextEditResult(offers=renamed), follows)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._look_elsewhere(watched, document))
            if not renamed:
                group.create_task(self._search(watched, document, edited, follows, level))

    async def _search(
        self,
        watched: Watched,
        document: Document,
        edited: EditedText,
        follows: LineRange | None,
        level: Level,
    ) -> None:
        """Ask the engine to find what no longer fits."""
        uri, language = document.uri, document.language
        plan = await read_text(
            document.text, partial(plan_next_edits, edited, language, self._shown_before(uri))
        )
        found = find_offers(
            lambda request: self._idle.ask(request, self._until(watched), is_search=True),
            plan,
            level,
            self._session.settings.model,
        )
        async for result in found:
            if self._documents.current(uri) is not document:
                return
            self._windows.remember(uri, plan.window)
            watched.is_read = True
            self._put(watched, document, result, follows)
        if not watched.open.offers and level == "bold":
            await self._search_elsewhere(watched, document, edited)

    async def _search_elsewhere(
        self, watched: Watched, document: Document, edited: EditedText
    ) -> None:
        """Offer the edit again in another open document, the likeliest of a few."""
        plans: list[tuple[Document, NextEditPlan]] = []
        for other in self._others(document):
            silent = [lines_at(other, *it) for it in self._watch(other).open.dismissed]
            work = partial(plan_elsewhere, edited, other.text, other.language, silent)
            plan = await asyncio.to_thread(work)
            plans += [(other, plan)] if plan is not None else []
        plans.sort(key=lambda it: -it[1].repeats[0].num_shared)
        for other, plan in plans[:MAX_ELSEWHERE]:
            has_own = other.uri != watched.next_uri and self.offers_of(other.uri)
            if has_own or self._documents.current(other.uri) is not other:
                continue
            async for result in find_offers(
                lambda request: self._idle.ask(request, self._until(watched), is_search=True),
                plan,
                "bold",
                self._session.settings.model,
            ):
                if self._documents.current(document.uri) is not document:
                    return
                if result.offers and self._documents.current(other.uri) is other:
                    self._put_elsewhere(watched, (document, edited.newest), other, result)
                    return

    def _others(self, document: Document) -> Sequence[Document]:
        """Return the open documents that an edit of this one may go on in."""
        folders = self._session.in_force.folders
        folder = settings_folder_of(document.uri, folders)
        return [
            it
            for it in self._documents.opened()
            if it is not document
            and it.language.id == document.language.id
            and settings_folder_of(it.uri, folders) == folder
            and len(it.text) <= MAX_TEXT_CHARS
            and self._level_of(it) == "bold"  # such offers are no surer
        ]

    def _put_elsewhere(
        self,
        watched: Watched,
        edited: tuple[Document, LineRange],
        other: Document,
        result: NextEditResult,
    ) -> None:
        """Open offers of an edit in another document, and tell both where they are."""
        (document, newest), elsewhere = edited, self._watch(other).open
        self._end_next(watched)
        offsets = line_offsets(document.text)
        watched.open.follow((offsets[newest.start], offsets[newest.end]))
        elsewhere.follow(None)
        num_new = elsewhere.put(result.offers)
        watched.next_uri = other.uri
        self._offers_changed(other)
        self._offers_changed(document)
        self._count(offered=num_new)

    async def _look_elsewhere(self, watched: Watched, document: Document) -> None:
        """Find what a rename has left in other files, unless that is known."""
        if watched.elsewhere is not None:
            return
        rename, files = _rename_of(watched, document), await self.uses_elsewhere(document)
        if rename is None or not files or self._documents.current(document.uri) is not document:
            return
        uses = sum(len(it.replacements) for it in files)
        watched.elsewhere = Elsewhere(new_name=rename.new_name, files=len(files), uses=uses)
        logger.info("%d uses of a renamed name in %d other files", uses, len(files))
        self._offers_changed(document)

    def _put(
        self,
        watched: Watched,
        document: Document,
        result: NextEditResult,
        follows: LineRange | None,
    ) -> None:
        """Replace the open offers by those of a result that has some, of an edit of these lines."""
        words = f"{len(result.offers)} next edits" if result.offers else "no next edit"
        logger.info("%s%s", words, "" if result.reason is None else f": {result.reason}")
        if result.offers:
            if follows is not None:
                offsets = line_offsets(document.text)
                watched.open.follow((offsets[follows.start], offsets[follows.end]))
            had_offers = bool(watched.open.offers)
            num_new = watched.open.put(result.offers)
            if had_offers or watched.open.offers:
                self._offers_changed(document)
                self._tell_of(document.uri)
            self._count(offered=num_new)  # told after what it counts
        watched.answered.set()

    async def _read(self, watched: Watched, document: Document, line: int) -> None:
        """Ask the engine to read the text around a line."""
        uri = document.uri
        watched.quiet_until = max(watched.quiet_until, time.monotonic() + PAUSE_S)
        plan = await read_text(
            document.text,
            partial(plan_reading, document.text, line, document.language, self._shown_before(uri)),
        )
        answer = await self._idle.ask(
            plan.request(model=self._session.settings.model), self._until(watched), is_search=False
        )
        watched.is_read = True
        if not isinstance(answer, NoSuggestion):
            self._windows.remember(uri, plan.window)

    def _until(self, watched: Watched) -> QuietUntil:
        """A suggestion in one document keeps the searches of all others quiet, too."""
        return lambda: max(watched.quiet_until, self._read_until)

    def _shown_before(self, uri: str) -> Sequence[Window]:
        suggestions = self._suggestions
        shown = (self._windows, suggestions.windows, suggestions.first_windows)
        return [window for windows in shown for window in windows.of(uri)]


def _rename_of(watched: Watched, document: Document) -> Rename | None:
    """Return the rename that is all that the last edit, and what was accepted since, have done."""
    last = watched.settled.last
    if last is None:
        return None
    return rename_between(last.before, document.text, last.edit, document.language)
