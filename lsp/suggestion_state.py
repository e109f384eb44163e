"""The state of ghost text and of the menu's items: what is known, what runs, what is read."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Self

from intarsia.lsp.documents.documents import DocumentChange
from intarsia.lsp.documents.windows import Windows
from intarsia.lsp.feature import Feature
from intarsia.lsp.status.draft_notifications import Drafts
from intarsia.lsp.suggestions.ahead_chain import AheadChain
from intarsia.lsp.suggestions.latest_request import Debounce, LatestRequest
from intarsia.lsp.suggestions.suggestion_cache import SuggestionCache
from intarsia.lsp.suggestions.unfinished_fills import UnfinishedFills

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import AheadReport
    from intarsia.lsp.session import Session


class Suggestions(Feature):
    """Of all documents. Suggestions are forgotten where the settings change."""

    def __init__(self, session: "Session") -> None:
        self.windows = Windows()  # read whole, as the settings allow
        self.first_windows = Windows()  # read for a first answer
        self.cache = SuggestionCache()
        self.latest = LatestRequest()
        self.unfinished = UnfinishedFills()
        self.ahead = AheadChain(self._count_ahead)
        self.debounce = Debounce()
        self.drafts = Drafts(session.notify, session.documents)
        self._session = session

    @classmethod
    def for_session(cls, session: "Session") -> Self:
        return cls(session)

    def changed(self, change: DocumentChange) -> None:
        if self.ahead.is_running:
            uri = change.after.uri
            around = self._session.documents.text_around(uri)
            self.ahead.document_changed(uri, around.before + change.after.text + around.after)

    def cells_changed(self) -> None:
        self.ahead.end()

    def closed(self, uri: str) -> None:
        self.latest.end(uri)
        self._forget(uri)

    def configured(self, uris: Collection[str] | None) -> None:
        if uris is None:
            self.cache.clear()
            self.unfinished.end_all()
            self.ahead.end()
        for uri in uris or ():
            self._forget(uri)

    async def close(self) -> None:
        self.latest.end_all()
        self.unfinished.end_all()
        self.ahead.end()

    def _forget(self, uri: str) -> None:
        self.cache.forget(uri)
        self.unfinished.end(uri)
        self.ahead.document_closed(uri)

    def _count_ahead(self, count: "AheadReport") -> None:
        """Put what a fill ahead of the user brought into the status, and tell the engine."""
        self._session.status.count_ahead(count)
        self._session.engine.report_ahead(count)
