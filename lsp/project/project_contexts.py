"""Keeps the code of other files that each open document's suggestions are written with.

It is chosen and read in idle time, once a suggestion has been answered: no suggestion waits for it.
An edit that the user asked for waits: it is chosen for each of its holes (``find``).
A set of chunks stays while the index says that it serves the hole, so that keystrokes reuse what
the engine has read.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Self, TypeAlias

from lsprotocol import types

from intarsia.engine.ipc.messages import Fill, ProjectContext
from intarsia.infill.filling.plan import FillPlan, PlannedHole, to_project_context
from intarsia.infill.next_edit.renaming import Rename
from intarsia.infill.replacement import ChangedFile
from intarsia.infill.syntax.text import replaced_range
from intarsia.infill.syntax.tree import prose_in
from intarsia.lsp.documents import Document, DocumentChange, Documents, Snapshot, disk_path
from intarsia.lsp.engine_connection import EngineConnection
from intarsia.lsp.project.index_connection import IndexConnection
from intarsia.lsp.session import Feature, Session
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshots import ineligibility
from intarsia.workspace.context.chunk import Chunk, Place, RecentEdit, context_budget
from intarsia.workspace.context.neighbourhood import receiver_at

MAX_REGIONS = 16
NEAR_LINES = 8
"""An edit this near to a region extends it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EditedLines:
    """One change of a document. Lines are 0-based; ``num_old`` lines became ``num_new``."""

    uri: str
    start_line: int
    num_old: int
    num_new: int


def edited_lines(changed: DocumentChange) -> Iterator[EditedLines]:
    """Yield the edits of a change."""
    before, after, uri = changed.before.text, changed.after.text, changed.after.uri
    for change in changed.changes:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            start, end, new_end = replaced_range(before, after)
            yield EditedLines(
                uri=uri,
                start_line=before.count("\n", 0, start),
                num_old=before.count("\n", start, end) + 1,
                num_new=after.count("\n", start, new_end) + 1,
            )
            return
        place = change.range
        yield EditedLines(
            uri=uri,
            start_line=place.start.line,
            num_old=max(0, place.end.line - place.start.line) + 1,
            num_new=change.text.count("\n") + 1,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """Edited lines as they are now; ``end_line`` is exclusive."""

    uri: str
    start_line: int
    end_line: int


class RecentEdits:
    """The newest regions; the oldest are dropped first."""

    def __init__(self) -> None:
        self._regions: list[Region] = []  # oldest first

    def newest_first(self) -> Sequence[Region]:
        """Return the regions, the one edited last first."""
        return self._regions[::-1]

    def note(self, edit: EditedLines) -> None:
        """Follow one change of a document."""
        end_line = edit.start_line + edit.num_new
        region = Region(uri=edit.uri, start_line=edit.start_line, end_line=end_line)
        kept = []
        for other in self._regions:
            moved = _after(other, edit)
            if _is_near(moved, region):
                region = Region(
                    uri=region.uri,
                    start_line=min(moved.start_line, region.start_line),
                    end_line=max(moved.end_line, region.end_line),
                )
            else:
                kept.append(moved)
        self._regions = [*kept[-MAX_REGIONS + 1 :], region]

    def forget(self, uri: str) -> None:
        """Drop the regions of a document, because it is closed or replaced as a whole."""
        self._regions = [region for region in self._regions if region.uri != uri]


def _after(region: Region, edit: EditedLines) -> Region:
    """Return where the region's lines are after an edit of the same document."""
    if region.uri != edit.uri:
        return region
    end_of_edit = edit.start_line + edit.num_old
    shift = edit.num_new - edit.num_old

    def moved(line: int) -> int:
        return line + shift if line >= end_of_edit else min(line, edit.start_line + edit.num_new)

    start_line = moved(region.start_line)
    end_line = max(start_line, moved(region.end_line))
    return Region(uri=region.uri, start_line=start_line, end_line=end_line)


def _is_near(first: Region, second: Region) -> bool:
    if first.uri != second.uri:
        return False
    gap = max(first.start_line, second.start_line) - min(first.end_line, second.end_line)
    return gap <= NEAR_LINES


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentContext:
    """The chunks for one document, in the order in which the model reads them.

    ``repository`` is the name of the opened folder, ``path`` is the file's, relative to it.
    """

    repository: str
    path: str
    chunks: Sequence[Chunk]

    @property
    def message(self) -> ProjectContext | None:
        """The code of other files that a fill carries."""
        passages = ((chunk.path, chunk.text) for chunk in self.chunks)
        return to_project_context(passages, self.repository, self.path)


logger = logging.getLogger(__name__)

PAUSE_S = 0.4
"""After the last answer, before choosing again: who types on gets what was chosen first."""

INCOMPLETE_PAUSE_S = 1.0
"""Before choosing again for the same text, while the index does not know all files."""

MAX_INDEX_S, POLL_S = 3.0, 0.1
"""How long a user who asked for an edit waits for the index of a folder that was just opened."""

MAX_RECENT_EDITS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenHole:
    """A hole of an open document: its plan, and the fill that was requested for it."""

    document: Document
    plan: FillPlan
    fill: Fill


FindHole: TypeAlias = Callable[[], OpenHole | None]
"""Returns the hole of a request, None if the document has changed or has no hole there now."""


@dataclass(kw_only=True, slots=True, eq=False)
class _Refresh:
    """The work in idle time for one document."""

    uri: str
    has_begun: bool = False  # the pause before it is over
    is_chosen: asyncio.Event = field(default_factory=asyncio.Event)  # a first time
    task: asyncio.Task[None] = field(init=False)


class ProjectContexts(Feature):
    """The context of each open document that was asked for a suggestion."""

    def __init__(
        self,
        documents: Documents,
        engine: EngineConnection,
        index: IndexConnection,
        settings_of: Callable[[Document], Settings],
    ) -> None:
        """``settings_of`` returns the settings of a document: those of its folder."""
        self._documents = documents
        self._engine = engine
        self._index = index
        self._settings_of = settings_of
        self._of: dict[str, DocumentContext] = {}  # by URI
        self._messages: dict[str, ProjectContext | None] = {}
        self._refreshing: _Refresh | None = None
        self.recent_edits = RecentEdits()

    @classmethod
    def for_session(cls, session: Session) -> Self:
        index = session.feature(IndexConnection)
        return cls(session.documents, session.engine, index, session.in_force.of)

    def of(self, uri: str) -> ProjectContext | None:
        """Return what a fill in this document carries, None if nothing was chosen for it."""
        self.chosen(uri)
        return self._messages.get(uri)

    def chosen(self, uri: str) -> DocumentContext | None:
        """Return the chunks that were chosen for a document, None if none were.

        A chunk whose file has changed since, or may no longer be read, is dropped.
        """
        context = self._of.get(uri)
        if context is None:
            return None
        if (kept := self._without_changed(context)) is not context:
            self._keep(uri, kept)
        return kept

    def _without_changed(self, context: DocumentContext) -> DocumentContext:
        kept = [chunk for chunk in context.chunks if not self._index.has_changed(chunk)]
        return context if len(kept) == len(context.chunks) else replace(context, chunks=kept)

    async def member_names(self, snapshot: Snapshot) -> Sequence[str]:
        """Return all members of the type of ``user`` after ``user.``; one of them must follow.

        () after no dot, in prose, and where they are not known in time.
        """
        if snapshot.language.library_members is None:
            return ()
        document, text, offset = snapshot.document, snapshot.text, snapshot.offset
        path = document.disk_path
        if path is None or not self.is_on(snapshot.settings) or not receiver_at(text, offset):
            return ()
        if prose_in(text, snapshot.language, offset) is not None:
            return ()
        return await self._index.find_members(path, text, snapshot.language.id, offset)

    def is_on(self, settings: Settings) -> bool:
        """Whether code of other files can be chosen."""
        return self._index.has_folders and settings.project_context

    def refresh(self, document: Document, hole: FindHole) -> None:
        """Choose and read the context of a hole of this document in idle time.

        The newest call counts, but what is begun for a document is ended before it is begun again.
        """
        uri = document.uri
        if not self.is_on(self._settings_of(document)):
            return
        running = self._refreshing
        if running is not None and not running.task.done():
            if running.uri == uri and running.has_begun:
                return
            running.task.cancel()
        refresh = _Refresh(uri=uri)
        refresh.task = asyncio.create_task(self._refresh(refresh, hole))
        self._refreshing = refresh

    def has_none(self, uri: str) -> bool:
        """Whether there is no code of other files for a document, or none was asked for."""
        running = self._refreshing
        is_chosen = running is None or running.uri != uri or running.is_chosen.is_set()
        return is_chosen and self.of(uri) is None

    async def refreshed(self, uri: str) -> None:
        """Return once the context of this document is chosen, if that has been begun."""
        running = self._refreshing
        if running is not None and running.uri == uri:
            await running.is_chosen.wait()

    def changed(self, change: DocumentChange) -> None:
        """Record the edited lines."""
        if not change.after.is_cell:
            for edit in edited_lines(change):
                self.recent_edits.note(edit)

    def closed(self, uri: str) -> None:
        self._forget(uri)
        self.recent_edits.forget(uri)

    def configured(self, uris: Collection[str] | None) -> None:
        """Drop what was chosen, and texts: by other settings or folders, less may be read."""
        for uri in uris or ():
            self._forget(uri)
        if uris is None:
            self._end()
            self._of.clear()
            self._messages.clear()
            self._index.close_texts()

    def _forget(self, uri: str) -> None:
        if self._refreshing is not None and self._refreshing.uri == uri:
            self._refreshing.task.cancel()
        self._of.pop(uri, None)
        self._messages.pop(uri, None)
        if path := disk_path(uri):
            self._index.close_text(path)

    async def close(self) -> None:
        self._end()

    def _end(self) -> None:
        """End the work in idle time."""
        if self._refreshing is not None:
            self._refreshing.task.cancel()

    async def _refresh(self, refresh: _Refresh, find_hole: FindHole) -> None:
        try:
            if refresh.uri in self._of:
                await asyncio.sleep(PAUSE_S)
            refresh.has_begun = True
            while (hole := find_hole()) is not None and self._index.has_folders:
                await self._choose(hole)
                if project := self.of(refresh.uri):
                    self._engine.prefetch_hole(hole.fill, project)
                refresh.is_chosen.set()
                if await self._index.is_complete():
                    return
                await asyncio.sleep(INCOMPLETE_PAUSE_S)
        except Exception:  # no suggestion depends on it
            logger.exception("context from other files was not chosen")
        finally:
            refresh.is_chosen.set()

    async def find(self, document: Document, planned: PlannedHole) -> DocumentContext | None:
        """Choose for a hole that the user asked about, and keep nothing; None: nothing is known."""
        settings = self._settings_of(document)
        if not self.is_on(settings):
            return None
        found = await self._chosen_for(document, planned)
        if found is None or settings != self._settings_of(document):
            return None
        return self._without_changed(found)

    async def settled(self, document: Document) -> bool:
        """Return whether the index knows all files, after waiting for that a little."""
        try:
            async with asyncio.timeout(MAX_INDEX_S):
                await self._index.is_opened.wait()
                while self.is_on(self._settings_of(document)):
                    if await self._index.is_complete():
                        break
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            return False
        return True

    async def _choose(self, hole: OpenHole) -> None:
        context = await self._chosen_for(hole.document, hole.plan)
        if context is not None:
            self._keep(hole.document.uri, context)

    async def _chosen_for(self, document: Document, planned: PlannedHole) -> DocumentContext | None:
        place = self._place(document, planned)
        root = None if place is None else self._index.root_of(place.path)
        if place is None or root is None:
            return None
        self._tell_edited()
        budget_tokens = context_budget(await self._engine.reading_speed())
        chunks = await self._index.choose(place, budget_tokens)
        if chunks is None:
            return None
        return DocumentContext(
            repository=PurePath(root).name,
            path=PurePath(place.path).relative_to(root).as_posix(),
            chunks=chunks,
        )

    async def uses_elsewhere(
        self, document: Document, before: str, rename: Rename
    ) -> Sequence[ChangedFile]:
        """Return what a rename has left in the other files of its folder, once all are indexed.

        ``before`` is the document's text with the old name. Of an open file, the text that was
        looked at is the newest one.
        """
        path = document.disk_path
        await self._index.is_opened.wait()
        if path is None or self._index.root_of(path) is None or document.is_cell:
            return ()
        while not await self._index.is_complete():
            if not self._index.has_folders:
                return ()
            await asyncio.sleep(INCOMPLETE_PAUSE_S)
        self._tell_edited()
        found = await self._index.find_uses(path, before, rename.asked_at, rename.new_name)
        opened = {it.disk_path: it.text for it in self._documents.opened()}
        return [it for it in found if opened.get(it.path, it.text) == it.text]

    def _tell_edited(self) -> None:
        """Send the index the texts of open files that are not as on disk."""
        for edited in self._documents.edited_files():
            path = edited.disk_path
            if path is not None and self._may_show(edited):
                self._index.update_text(path, edited)

    def _keep(self, uri: str, context: DocumentContext) -> None:
        self._of[uri] = context
        self._messages[uri] = context.message

    def _place(self, document: Document, plan: PlannedHole) -> Place | None:
        path = document.disk_path
        if path is None:
            return None
        window_start, window_end = plan.window
        return Place(
            path=path,
            text=plan.text,
            language=plan.language,
            offset=plan.hole.start,
            window_start=window_start,
            window_end=window_end,
            recent_edits=tuple(self._recent_edits_elsewhere(document)),
        )

    def _recent_edits_elsewhere(self, document: Document) -> Sequence[RecentEdit]:
        """Return the newest edits in other documents of the same folder that may be read."""
        root = self._root_of(document.file_uri)

        def edit(region: Region) -> RecentEdit | None:
            other = self._documents.current(region.uri)
            path = None if other is None or other.is_cell else other.disk_path
            if other is None or path is None or self._root_of(region.uri) != root:
                return None
            if not self._may_show(other):
                return None
            return RecentEdit(
                path=path, text=other.text, start_line=region.start_line, end_line=region.end_line
            )

        elsewhere = (it for it in self.recent_edits.newest_first() if it.uri != document.uri)
        return [found for region in elsewhere if (found := edit(region))][:MAX_RECENT_EDITS]

    def _root_of(self, uri: str) -> str | None:
        path = disk_path(uri)
        return None if path is None else self._index.root_of(path)

    def _may_show(self, document: Document) -> bool:
        return ineligibility(self._settings_of(document), document) is None
