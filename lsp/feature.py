"""The features of the server: each has its own state for one client, and is told what happens.

Handlers ask the session for a feature by its class; the session knows none by name.
"""

import logging
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from intarsia.lsp.documents.documents import DocumentChange, Snapshot
    from intarsia.lsp.ghost_text import RequestOutcome

logger = logging.getLogger(__name__)


class Feature:
    """What is called of each feature that is in use; here, nothing happens."""

    @classmethod
    def for_session(cls, session: Any) -> Self:
        """Return a new one for the client of a Session."""
        return cls()

    def changed(self, change: "DocumentChange") -> None:
        """Follow a change of a document."""

    def cells_changed(self) -> None:
        """Cells of a notebook were added, moved or removed: their texts stand elsewhere now."""

    def answered(self, snapshot: "Snapshot", outcome: "RequestOutcome") -> None:
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

    def __init__(self, session: Any) -> None:
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
        """Tell each feature that was used of something."""
        for feature in list(self._used.values()):
            try:
                tell(feature)
            except Exception:  # no change of a text may fail by what follows it
                logger.exception("%s does not follow", type(feature).__name__)

    def tell_all(self, tell: Callable[[Feature], None]) -> None:
        """Tell those too that listen before they are used."""
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
