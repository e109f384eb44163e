"""The server's only mutable state, for one client from initialize to shutdown."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from intarsia.lsp.documents.documents import Documents
from intarsia.lsp.engine.connection import EngineConnection
from intarsia.lsp.engine.repository_tuning import choose_model
from intarsia.lsp.engine.user_messages import EngineNotifier
from intarsia.lsp.extensions import Extensions
from intarsia.lsp.settings import Settings, resolve_settings
from intarsia.lsp.status.draft_notifications import Drafts
from intarsia.lsp.status.reporter import StatusReporter
from intarsia.lsp.suggestions.answer import Answer
from intarsia.lsp.suggestions.debounce import Debounce
from intarsia.lsp.suggestions.latest_request import LatestRequest
from intarsia.lsp.suggestions.suggestion_cache import SuggestionCache

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from intarsia.engine.ipc.launch import LaunchOptions

logger = logging.getLogger(__name__)


class Session:
    """Documents, settings, what was suggested, what runs, and the way to the engine."""

    def __init__(self, server: "LanguageServer", launch: "LaunchOptions | None") -> None:
        self.settings = Settings()
        self.extensions = Extensions()  # that the client asked for
        self.documents = Documents()
        self.cache = SuggestionCache()
        self.latest = LatestRequest()
        self.debounce = Debounce()
        self.drafts = Drafts(server.protocol.notify, self.documents)
        self.status = StatusReporter(server.protocol.notify)
        self.engine = EngineConnection(EngineNotifier(server), self.status, launch)
        self._problems: tuple[str, ...] = ()  # of the options that hold now; each is logged once
        self._initial_options: Mapping[str, object] = {}
        self._folders: Sequence[Path] = ()
        self._said_of_model: str | None = None
        self._background: set[asyncio.Task[None]] = set()

    def start_with(self, options: object, folders: Sequence[Path]) -> None:
        """Take what came with initialize: opened folders, and options that later ones are laid
        over."""
        self._folders = folders
        self._initial_options = _as_options(options)
        self.configure({})

    def configure(self, options: object) -> None:
        """Resolve new options. What was suggested under the old ones is forgotten."""
        merged = {**self._initial_options, **_as_options(options)}
        settings, problems = resolve_settings(merged)
        choice = choose_model(settings, self._folders)
        self.settings = msgspec.structs.replace(settings, model=choice.model)
        if choice.said is not None and choice.said != self._said_of_model:
            logger.info("%s", choice.said)
        self._said_of_model = choice.said
        for problem in problems:
            if problem not in self._problems:
                logger.warning("%s", problem)
        self._problems = problems
        self.status.enabled(self.settings.enabled)
        self.cache.clear()

    def preload(self) -> None:
        """Have the model loaded beside all else, if the settings say so."""
        if self.settings.enabled and self.settings.preload:
            task = asyncio.create_task(self.engine.preload(self.settings.model))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    def report(self, uri: str, answer: Answer) -> None:
        """A request has been answered: say so in the status, and log why if with nothing."""
        if not answer.ghosts:
            logger.info("no suggestion: %s", answer.reason)
        self.status.request_answered(answer.for_status(uri))

    async def close(self) -> None:
        """End all work, then the connection to the engine."""
        self.status.stop()
        self.latest.end_all()
        for task in self._background:
            task.cancel()
        await self.engine.close()


def _as_options(options: object) -> Mapping[str, object]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        logger.warning("options must be an object, ignored: %r", options)
        return {}
    return options
