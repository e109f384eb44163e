"""The server's mutable state for one client, from ``initialize`` to ``shutdown``."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from lsprotocol import types

from intarsia.lsp.documents.documents import Documents
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.documents.windows import Windows
from intarsia.lsp.engine.connection import EngineConnection
from intarsia.lsp.engine.repository_tuning import choose_model
from intarsia.lsp.engine.user_messages import EngineNotifier
from intarsia.lsp.protocol_extensions import Extensions
from intarsia.lsp.settings import Settings, resolve_settings
from intarsia.lsp.status.ahead_count import AheadCount
from intarsia.lsp.status.draft_notifications import Drafts
from intarsia.lsp.status.reporter import StatusReporter
from intarsia.lsp.suggestions.ahead_chain import AheadChain
from intarsia.lsp.suggestions.debounce import Debounce
from intarsia.lsp.suggestions.latest_request import LatestRequest
from intarsia.lsp.suggestions.power import Power
from intarsia.lsp.suggestions.request_outcome import RequestOutcome
from intarsia.lsp.suggestions.suggestion_cache import SuggestionCache

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from intarsia.engine.ipc.launch import LaunchOptions
    from intarsia.engine.ipc.messages import ProjectContext
    from intarsia.lsp.project.index_connection import IndexConnection
    from intarsia.lsp.project.project_contexts import ProjectContexts

logger = logging.getLogger(__name__)


class Session:
    """Documents, settings, cached suggestions, running requests, engine and index."""

    def __init__(self, server: "LanguageServer", launch: "LaunchOptions | None") -> None:
        self.settings = Settings()
        self.extensions = Extensions()  # that the client requested
        self.documents = Documents()
        self.windows = Windows()  # read whole, as the settings allow
        self.first_windows = Windows()  # read for a first answer
        self.cache = SuggestionCache()
        self.latest = LatestRequest()
        self.ahead = AheadChain(self._count_ahead)
        self.power = Power()
        self.debounce = Debounce()
        self.drafts = Drafts(server.protocol.notify, self.documents)
        self.status = StatusReporter(server.protocol.notify)
        self.engine = EngineConnection(EngineNotifier(server), self.status, launch)
        self._problems: tuple[str, ...] = ()  # with the current options; each is logged once
        self._initial_options: Mapping[str, object] = {}
        self._folders: Sequence[Path] = ()
        self._has_file_events: bool | None = None  # None: the index is not to be opened yet
        self._model_note: str | None = None
        self._background: set[asyncio.Task[None]] = set()

    @cached_property
    def index(self) -> "IndexConnection":
        """The connection to the index of the opened folders."""
        from intarsia.lsp.project.index_connection import IndexConnection  # not for `initialize`

        return IndexConnection()

    @cached_property
    def projects(self) -> "ProjectContexts":
        """Code of other files for each document."""
        from intarsia.lsp.project.project_contexts import ProjectContexts  # not for `initialize`

        return ProjectContexts(self.documents, self.engine, self.index)

    def start_with(self, options: object, folders: Sequence[Path]) -> None:
        """Take the options and opened folders of ``initialize``; later options override these."""
        self._folders = folders
        self._initial_options = _as_options(options)
        self._resolve({})

    def configure(self, options: object) -> None:
        """Resolve new options, and forget the suggestions made under the old ones."""
        before = self.settings
        self._resolve(options)
        self.cache.clear()
        self.ahead.end()
        if self.settings != before:
            self.projects.forget_all()
        self._open_index()

    def _resolve(self, options: object) -> None:
        merged = {**self._initial_options, **_as_options(options)}
        settings, problems = resolve_settings(merged)
        choice = choose_model(settings, self._folders)
        self.settings = msgspec.structs.replace(settings, model=choice.model)
        if choice.note is not None and choice.note != self._model_note:
            logger.info("%s", choice.note)
        self._model_note = choice.note
        for problem in problems:
            if problem not in self._problems:
                logger.warning("%s", problem)
        self._problems = problems
        self.status.set_enabled(self.settings.enabled)

    def open_index(self, *, has_file_events: bool) -> None:
        """Have the opened folders indexed, now and after each change of settings and folders."""
        self._has_file_events = has_file_events
        self._open_index()

    def change_folders(self, *, added: Sequence[Path], removed: Sequence[Path]) -> None:
        """Take the folders that the client has opened and closed."""
        kept = [folder for folder in self._folders if folder not in removed]
        self._folders = (*kept, *(folder for folder in added if folder not in kept))
        self.cache.clear()
        self.ahead.end()
        self.projects.forget_all()
        self._open_index()

    def project_of(self, snapshot: Snapshot) -> "ProjectContext | None":
        """Return the code of other files for a cursor, None if none has been chosen yet."""
        return self.projects.of(snapshot.document.uri)

    def change_document(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take a change of a document, and note the edited lines."""
        from intarsia.lsp.project.recent_edits import edited_lines

        uri = params.text_document.uri
        before = self.documents.current(uri)
        self.documents.change(params)
        after = self.documents.current(uri)
        self._tell_ahead(uri)
        if before is not None and after is not None:
            for edit in edited_lines(before.text, after.text, params):
                self.projects.recent_edits.note(edit)

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Take a change of a notebook and of the text of its cells."""
        for uri in self.documents.change_notebook(params):
            self.forget_document(uri)
        cells = params.change.cells
        if cells is not None and cells.structure is not None:
            self.ahead.end()
        for content in (cells.text_content if cells is not None else None) or ():
            self._tell_ahead(content.document.uri)

    def _tell_ahead(self, uri: str) -> None:
        document = self.documents.current(uri)
        if document is not None and self.ahead.is_running:
            around = self.documents.text_around(uri)
            self.ahead.document_changed(uri, around.before + document.text + around.after)

    def forget_document(self, uri: str) -> None:
        """End what runs for a closed document, and drop what is known of it."""
        self.latest.end(uri)
        self.ahead.document_closed(uri)
        self.projects.forget(uri)

    def _open_index(self) -> None:
        if self._has_file_events is not None:
            self.index.open(self._folders, self.settings, has_file_events=self._has_file_events)

    def preload(self) -> None:
        """Have the model loaded in the background, if the settings say so."""
        if self.settings.enabled and self.settings.preload:
            task = asyncio.create_task(self.engine.preload(self.settings.model))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    def report(self, uri: str, outcome: RequestOutcome) -> None:
        """Put a request's outcome into the status, and log why nothing was suggested."""
        if not outcome.ghosts:
            logger.info("no suggestion: %s", outcome.reason)
        self.status.request_answered(outcome.for_status(uri))

    def uses_idle_time(self) -> bool:
        """Whether the engine may work ahead of the user, by the settings and the power."""
        setting = self.settings.fill_ahead
        return setting == "always" or (setting == "onPower" and not self.power.is_on_battery())

    async def close(self) -> None:
        """End all work, then the connection to the engine."""
        self.status.stop()
        self.latest.end_all()
        self.projects.close()
        self.ahead.end()
        for task in self._background:
            task.cancel()
        self._folders = ()  # an answer of the client may come late, and opens no index
        await self.index.close()
        await self.engine.close()

    def _count_ahead(self, count: AheadCount) -> None:
        """Put what a fill ahead of the user brought into the status, and tell the engine."""
        from intarsia.engine.ipc.messages import AheadReport

        self.status.count_ahead(count)
        self.engine.report_ahead(AheadReport(**asdict(count)))


def _as_options(options: object) -> Mapping[str, object]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        logger.warning("ignored the options: they must be an object, not %r", options)
        return {}
    return options
