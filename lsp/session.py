"""The state that all features share for one client, from ``initialize`` to ``shutdown``.

Each feature has its own state for one client, and is told what happens. Handlers ask the session
for a feature by its class; the session knows none by name.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from functools import partial
from operator import methodcaller
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from intarsia.lsp.documents import Document, DocumentChange, Documents, Folder, Snapshot
from intarsia.lsp.engine_connection import EngineConnection, EngineNotifier
from intarsia.lsp.protocol_extensions import Extensions
from intarsia.lsp.settings import Settings
from intarsia.lsp.settings_in_force import SettingsInForce, SettingsRequests
from intarsia.lsp.status import StatusReporter

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from intarsia.engine.ipc.launch import LaunchOptions
    from intarsia.lsp.ghost_text import RequestOutcome


logger = logging.getLogger(__name__)


class Feature:
    """The calls that each feature in use receives; here, nothing happens."""

    @classmethod
    def for_session(cls, session: "Session") -> Self:
        """Return a new one for this client."""
        return cls()

    def changed(self, change: DocumentChange) -> None:
        """Follow a change of a document."""

    def cells_changed(self) -> None:
        """Cells of a notebook were added, moved or removed: their texts stand elsewhere now."""

    def answered(self, snapshot: Snapshot, outcome: "RequestOutcome") -> None:
        """Follow the answer to a request for suggestions at a cursor."""

    def closed(self, uri: str) -> None:
        """Drop what is known of a document: it is closed, or its text is lost."""

    def configured(self, uris: Collection[str] | None) -> None:
        """Drop what was made for these documents: they have other settings. None: for all."""

    async def close(self) -> None:
        """End all work: the client is gone."""


F = TypeVar("F", bound=Feature)


class Features:
    """Those of one client that were used."""

    def __init__(self, session: "Session") -> None:
        self.listening: Callable[[], Collection[type[Feature]]] = lambda: ()  # before they are used
        self._session = session
        self._used: dict[type[Feature], Feature] = {}

    def of(self, kind: type[F]) -> F:
        """Return the feature of this kind, which the first call makes."""
        if kind not in self._used:
            self._used[kind] = kind.for_session(self._session)  # after those that it needs itself
        found = self._used[kind]
        assert isinstance(found, kind)
        return found

    def tell(self, tell: Callable[[Feature], None]) -> None:
        """Notify each feature that was used."""
        for feature in list(self._used.values()):
            try:
                tell(feature)
            except Exception:  # no change of a text may fail by what follows it
                logger.exception("%s does not follow", type(feature).__name__)

    def tell_all(self, tell: Callable[[Feature], None]) -> None:
        """Notify those too that listen before they are used."""
        for kind in self.listening():
            self.of(kind)
        self.tell(tell)

    async def close(self) -> None:
        """End their work, the newest first."""
        for feature in reversed(list(self._used.values())):
            try:
                await feature.close()
            except Exception:  # the others are closed all the same
                logger.exception("%s does not close", type(feature).__name__)


CLOSE_S = 10.0
"""The longest wait for what is left to write and to end."""


class Session:
    """Documents, settings, the engine, the status, and the features that were used."""

    def __init__(self, server: "LanguageServer", launch: "LaunchOptions | None") -> None:
        self.in_force = SettingsInForce()
        self.extensions = Extensions()  # that the client requested
        self.documents = Documents()
        self.notify = server.protocol.notify
        self.request = server.protocol.send_request_async
        self.status = StatusReporter(self.notify)
        self.engine = EngineConnection(
            EngineNotifier(server), self.status, launch, lambda: self.settings
        )
        self.told_cautions: set[str] = set()  # about models; each is shown once
        self.settings_requests = SettingsRequests(partial(self._settings_changed, ()))
        self.features = Features(self)
        self.feature = self.features.of
        self._background: set[asyncio.Task[None]] = set()
        self._closing: asyncio.Task[None] | None = None

    @property
    def settings(self) -> Settings:
        """The window's settings; ``settings_of`` tells a document's."""
        return self.in_force.window

    def settings_of(self, document: Document) -> Settings:
        """Return a document's settings, by its folder and its language."""
        return self.in_force.of(document)

    def start_with(self, options: object, folders: Sequence[Folder]) -> None:
        """Apply the options and opened folders of ``initialize``; later options override these."""
        self.in_force.start_with(options, folders)
        self.status.set_enabled(self.in_force.is_enabled)

    def configure(
        self, options: object, of_folders: Mapping[str, object] = MappingProxyType({})
    ) -> None:
        """Resolve new options, the window's and those of folders by URI.

        What was made under other settings is dropped; what other folders have stays.
        """
        changed = self.in_force.configure(options, of_folders, self.documents.opened())
        self._settings_changed(changed)

    def change_folders(self, *, added: Sequence[Folder], removed: Sequence[Folder]) -> None:
        """Apply the folders that the client has opened and closed."""
        self.in_force.change_folders(added=added, removed=removed)
        self._settings_changed(None)

    def _settings_changed(self, uris: Collection[str] | None) -> None:
        self.status.set_enabled(self.in_force.is_enabled)
        self.features.tell(methodcaller("configured", uris))

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a task until ``close``."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

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
        self.settings_requests.end_all()
        for task in self._background:
            task.cancel()
        self.in_force.folders = ()  # an answer of the client may come late, and opens no index
        await self.features.close()
        await self.engine.close()
