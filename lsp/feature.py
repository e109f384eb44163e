"""A feature of the server: its own state for one client, and what it is told of.

Handlers ask the session for a feature by its class; the session knows none by name.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from intarsia.lsp.documents.documents import DocumentChange
    from intarsia.lsp.documents.snapshot import Snapshot
    from intarsia.lsp.ghost_text import RequestOutcome


class Feature:
    """What the session calls of each feature that is in use; here, nothing happens."""

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
