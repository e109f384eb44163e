"""The server's mutable state for one client, from ``initialize`` to ``shutdown``."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from intarsia.lsp.documents.documents import Document, Documents
from intarsia.lsp.documents.folders import Folder
from intarsia.lsp.documents.windows import Windows
from intarsia.lsp.engine.connection import EngineConnection
from intarsia.lsp.engine.user_messages import EngineNotifier
from intarsia.lsp.protocol_extensions import NEXT_EDITS, Extensions
from intarsia.lsp.settings import Settings
from intarsia.lsp.settings_in_force import SettingsInForce, SettingsRequests
from intarsia.lsp.status.draft_notifications import Drafts
from intarsia.lsp.status.status import StatusReporter
from intarsia.lsp.suggestions.ahead_chain import AheadChain
from intarsia.lsp.suggestions.latest_request import Debounce, LatestRequest
from intarsia.lsp.suggestions.machine import Load, Power
from intarsia.lsp.suggestions.request_outcome import RequestOutcome
from intarsia.lsp.suggestions.suggestion_cache import SuggestionCache
from intarsia.lsp.suggestions.unfinished_fills import UnfinishedFills
from intarsia.lsp.tolerance import Tolerance

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from intarsia.engine.ipc.launch import LaunchOptions
    from intarsia.engine.ipc.messages import AheadReport
    from intarsia.infill.next_edit.offer import Level
    from intarsia.infill.suggestion import NoSuggestion
    from intarsia.lsp.manners.manners import Manners
    from intarsia.lsp.next_edits.next_edits import NextEdits
    from intarsia.lsp.next_edits.open_offers import OpenOffer
    from intarsia.lsp.project.index_connection import IndexConnection
    from intarsia.lsp.project.project_contexts import ProjectContexts
    from intarsia.lsp.repairs.repairs import Repairs
    from intarsia.lsp.statistics import Recorder

CLOSE_S = 10.0
"""The longest wait for what is left to write and to end."""

logger = logging.getLogger(__name__)


class Session:
    """Documents, settings, cached suggestions, running requests, engine and index."""

    def __init__(self, server: "LanguageServer", launch: "LaunchOptions | None") -> None:
        self.in_force = SettingsInForce()
        self.extensions = Extensions()  # that the client requested
        self.documents = Documents()
        self.tolerance = Tolerance(self.documents.version_of)
        self.windows = Windows()  # read whole, as the settings allow
        self.first_windows = Windows()  # read for a first answer
        self.cache = SuggestionCache()
        self.latest = LatestRequest()
        self.unfinished = UnfinishedFills()
        self.ahead = AheadChain(self._count_ahead)
        self.power = Power()
        self.load = Load()
        self.debounce = Debounce()
        self._notify = server.protocol.notify
        self.drafts = Drafts(self._notify, self.documents)
        self.status = StatusReporter(server.protocol.notify)
        self.engine = EngineConnection(EngineNotifier(server), self.status, launch)
        self.settings_requests = SettingsRequests(self._open_index)
        self._has_file_events: bool | None = None  # None: the index is not to be opened yet
        self._background: set[asyncio.Task[None]] = set()
        self._closing: asyncio.Task[None] | None = None

    @cached_property
    def index(self) -> "IndexConnection":
        """The connection to the index of the opened folders."""
        from intarsia.lsp.project.index_connection import IndexConnection  # not for `initialize`

        return IndexConnection()

    @cached_property
    def projects(self) -> "ProjectContexts":
        """Code of other files for each document."""
        from intarsia.lsp.project.project_contexts import ProjectContexts  # not for `initialize`

        return ProjectContexts(self.documents, self.engine, self.index, self.settings_of)

    @cached_property
    def next_edits(self) -> "NextEdits":
        """What edits have left to change in each document."""
        from intarsia.lsp.next_edits.next_edits import NextEdits, Surroundings

        surroundings = Surroundings(
            level_of=self.next_edit_level,
            model=lambda: self.settings.model,
            windows=(self.windows, self.first_windows),
            is_filling_ahead=lambda: self.ahead.is_filling,
            offers_changed=self._offers_changed,
            uses_elsewhere=self.projects.uses_elsewhere,
            count=self.status.count_next_edits,
        )
        return NextEdits(self.documents, self.engine, surroundings)

    @cached_property
    def recorder(self) -> "Recorder":
        """The statistics of this client."""
        from intarsia.lsp.statistics import Recorder  # not for `initialize`

        return Recorder(lambda: self.settings)

    @cached_property
    def manners(self) -> "Manners":
        """What the user wants no suggestion for now, and what becomes of those shown."""
        from intarsia.lsp.manners.manners import Manners  # not for `initialize`
        from intarsia.lsp.suggestions.machine import Strain

        return Manners(
            documents=self.documents,
            settings_of=self.settings_of,
            strain=Strain(self.power, self.load),
            count=self.recorder.count,
        )

    @cached_property
    def repairs(self) -> "Repairs":
        """Repairs of errors that were looked for."""
        from intarsia.lsp.repairs.repairs import Repairs  # not for `initialize`

        return Repairs()

    def _is_used(self, part: str) -> bool:
        """Whether a part that is made on first use has been made."""
        return part in self.__dict__

    def next_edit_level(self, document: Document) -> "Level | None":
        """Return which next edits a document gets, None where it gets none, as notebooks do."""
        setting = self.settings_of(document).next_edit
        is_cell = document.notebook_uri is not None
        if setting == "off" or is_cell or self.settings_requests.is_open or self.refusal(document):
            return None
        return setting

    def _offers_changed(self, document: Document, offers: "Sequence[OpenOffer]") -> None:
        """Send the offers of a document to a client that draws them."""
        from intarsia.lsp.next_edits.messages import offered_edits

        if self.extensions.next_edits:
            rename = self.next_edits.rename_in(document)
            elsewhere = self.next_edits.elsewhere_in(document.uri)
            self._notify(NEXT_EDITS, offered_edits(document, offers, rename, elsewhere))

    @property
    def settings(self) -> Settings:
        """The window's settings; ``settings_of`` tells a document's."""
        return self.in_force.window

    @property
    def folders(self) -> Sequence[Folder]:
        """The folders that the client has opened."""
        return self.in_force.folders

    @property
    def is_enabled(self) -> bool:
        """Whether suggestions are made in the window, or in one of its folders at least."""
        return self.in_force.is_enabled

    def settings_of(self, document: Document) -> Settings:
        """Return a document's settings, by its folder and its language."""
        return self.in_force.of(document)

    def start_with(self, options: object, folders: Sequence[Folder]) -> None:
        """Take the options and opened folders of ``initialize``; later options override these."""
        self.in_force.start_with(options, folders)
        self.status.set_enabled(self.is_enabled)

    def configure(
        self, options: object, of_folders: Mapping[str, object] = MappingProxyType({})
    ) -> None:
        """Resolve new options, the window's and those of folders by URI.

        What was suggested under other settings is forgotten; other folders' suggestions stay.
        """
        window = self.settings
        before = {document: self.settings_of(document) for document in self.documents.opened()}
        self.in_force.configure(options, of_folders)
        self.status.set_enabled(self.is_enabled)
        if self.settings != window:
            self._forget_suggestions()
        else:
            same = {it.uri for it, settings in before.items() if settings == self.settings_of(it)}
            self.cache.keep_only(same)
            for uri in {it.uri for it in before} - same:
                self.ahead.document_closed(uri)
                self.projects.forget_chosen(uri)
                self._forget_next_edits(uri)
        self._open_index()

    def refusal(self, document: Document) -> "NoSuggestion | None":
        """Return why a document gets no suggestions, None where it gets them."""
        from intarsia.lsp.documents.may_suggest import ineligibility  # not for `initialize`

        return ineligibility(self.settings_of(document), document, self.folders)

    def open_index(self, *, has_file_events: bool) -> None:
        """Have the opened folders indexed, now and after each change of settings and folders."""
        self._has_file_events = has_file_events
        self._open_index()

    def change_folders(self, *, added: Sequence[Folder], removed: Sequence[Folder]) -> None:
        """Take the folders that the client has opened and closed."""
        self.in_force.change_folders(added=added, removed=removed)
        self.status.set_enabled(self.is_enabled)
        self._forget_suggestions()
        self._open_index()

    def settings_arrived(self, number: int) -> None:
        """Go by the client's answer to this request for settings, or do without it."""
        self.settings_requests.end(number)
        self._open_index()

    def _forget_suggestions(self) -> None:
        self.cache.clear()
        self.unfinished.end_all()
        self.ahead.end()
        self.projects.forget_all()
        if self._is_used("next_edits"):
            self.next_edits.forget_all()

    def change_document(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take a change of a document, and note the edited lines."""
        from intarsia.lsp.project.recent_edits import edited_lines

        uri = params.text_document.uri
        before = self.documents.current(uri)
        self.documents.change(params)
        after = self.documents.current(uri)
        self._tell_ahead(uri)
        if before is not None and after is not None:
            self._tell_manners(before, params)
            for edit in edited_lines(before.text, after.text, params):
                self.projects.recent_edits.note(edit)
            self._tell_next_edits(before, after, [it.text for it in params.content_changes])

    def lose_text(self, uri: str) -> None:
        """Suggest nothing until the whole text comes: a change could not be read."""
        for lost in self.documents.lose(uri):
            self.forget_document(lost)

    def _tell_manners(self, before: Document, params: types.DidChangeTextDocumentParams) -> None:
        after = self.documents.current(before.uri)
        if after is None:
            return
        try:
            self.manners.document_changed(before, after, params.content_changes)
        except Exception:  # no change of a text may fail by what is only observed
            logger.exception("the manners do not follow a change")

    def _tell_next_edits(self, before: Document, after: Document, inserted: Sequence[str]) -> None:
        if self.settings_of(after).next_edit == "off":
            return
        try:
            self.next_edits.document_changed(before, after, inserted)
        except Exception:  # no change of a text may fail by what is only offered
            logger.exception("next edits do not follow a change")

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Take a change of a notebook and of the text of its cells."""
        cells = params.change.cells
        contents = (cells.text_content if cells is not None else None) or ()
        befores = [self.documents.current(content.document.uri) for content in contents]
        for uri in self.documents.change_notebook(params):
            self.forget_document(uri)
        for content, before in zip(contents, befores, strict=True):
            if before is not None:
                changed = types.DidChangeTextDocumentParams(content.document, content.changes)
                self._tell_manners(before, changed)
        if cells is not None and cells.structure is not None:
            self.ahead.end()
        for content in contents:
            self._tell_ahead(content.document.uri)

    def _tell_ahead(self, uri: str) -> None:
        document = self.documents.current(uri)
        if document is not None and self.ahead.is_running:
            around = self.documents.text_around(uri)
            self.ahead.document_changed(uri, around.before + document.text + around.after)

    def forget_document(self, uri: str) -> None:
        """End what runs for a closed document, and drop what is known of it."""
        self.latest.end(uri)
        self.unfinished.end(uri)
        self.ahead.document_closed(uri)
        self.projects.forget(uri)
        self.manners.forget(uri)
        self._forget_next_edits(uri)
        if self._is_used("repairs"):
            self.repairs.forget(uri)

    def _forget_next_edits(self, uri: str) -> None:
        if self._is_used("next_edits"):
            self.next_edits.forget(uri)

    def _open_index(self) -> None:
        if self._has_file_events is None or self.settings_requests.is_open:
            return  # a new folder may exclude files, or want no index at all
        self.index.open(self.in_force.of_roots(), has_file_events=self._has_file_events)

    def preload(self) -> None:
        """Have the model loaded in the background, if the settings say so."""
        if self.is_enabled and self.settings.preload:
            self.start(self.engine.preload(self.settings.model))

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done until ``close``."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def report(self, uri: str, outcome: RequestOutcome) -> None:
        """Put a request's outcome into the status, and log why nothing was suggested."""
        if not outcome.ghosts:
            logger.info("no suggestion: %s", outcome.reason)
            self.recorder.count_reason(outcome.kind)
        self.status.request_answered(outcome.for_status(uri))

    def uses_idle_time(self) -> bool:
        """Whether the engine may work ahead of the user, by the settings and the power."""
        setting = self.settings.fill_ahead
        return setting == "always" or (setting == "onPower" and not self.power.is_on_battery())

    async def close(self) -> None:
        """End all work, then the connection to the engine; wait at most ``CLOSE_S``.

        ``shutdown``, ``exit`` and the end of the input may come together: each waits for one end.
        """
        self._closing = self._closing or asyncio.create_task(self._close())
        try:
            async with asyncio.timeout(CLOSE_S):
                await asyncio.shield(self._closing)
        except TimeoutError:
            logger.error("the session does not end within %.0f s", CLOSE_S)

    async def _close(self) -> None:
        self.status.stop()
        self.latest.end_all()
        self.unfinished.end_all()
        if self._is_used("projects"):
            self.projects.close()
        if self._is_used("next_edits"):
            self.next_edits.forget_all()
        if self._is_used("repairs"):
            self.repairs.forget()
        self.ahead.end()
        self.settings_requests.end_all()
        for task in self._background:
            task.cancel()
        self.in_force.folders = ()  # an answer of the client may come late, and opens no index
        if self._is_used("manners"):
            self.manners.close()
        if self._is_used("recorder"):
            await self.recorder.close()
        if self._is_used("index"):
            await self.index.close()
        await self.engine.close()

    def _count_ahead(self, count: "AheadReport") -> None:
        """Put what a fill ahead of the user brought into the status, and tell the engine."""
        self.status.count_ahead(count)
        self.engine.report_ahead(count)
