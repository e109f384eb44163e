"""Decides what the user wants no suggestion for now, and follows what becomes of those shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lsprotocol import types

from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.typing.follow import Followed
from intarsia.lsp.documents.documents import Document, Documents
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.fill_options import language_of
from intarsia.lsp.manners.document_change import change_between
from intarsia.lsp.manners.kept_texts import KeptTexts
from intarsia.lsp.manners.prose_rule import prose_silence
from intarsia.lsp.manners.strain import Strain
from intarsia.lsp.manners.watched import Watched
from intarsia.lsp.settings import Settings
from intarsia.lsp.statistics.counts import Count
from intarsia.lsp.suggestions.ghost_text import GhostText


@dataclass(frozen=True, slots=True)
class _Counting:
    """Counts what becomes of the suggestions in documents of one language."""

    count: Callable[[Count], None]
    language: str

    def shown(self) -> None:
        self.count(Count(language=self.language, num_shown=1))

    def accepted(self) -> None:
        self.count(Count(language=self.language, num_accepted=1))

    def ended(self, is_kept: bool, /) -> None:
        self.count(Count(language=self.language, num_kept=int(is_kept), num_ended=1))


@dataclass(kw_only=True, slots=True)
class Manners:
    """The documents of one client. ``count`` gets what is to be counted."""

    documents: Documents
    settings_of: Callable[[Document], Settings]
    strain: Strain
    count: Callable[[Count], None]
    _of: dict[str, Watched] = field(default_factory=dict)  # by URI

    def silence(self, snapshot: Snapshot) -> NoSuggestion | None:
        """Return why an automatic request gets no suggestion, None where it may get one."""
        document, settings = snapshot.document, self.settings_of(snapshot.document)
        if snapshot.selected is not None and not settings.over_menu:
            return NoSuggestion(reason="the editor's own menu is open (overMenu)", kind="menu")
        offset = snapshot.offset - snapshot.document_start
        watched = self._of.get(document.uri)
        if watched is not None:
            if watched.goes_on(offset):
                return None
            if silence := watched.silence(document.text, offset):
                return silence
        return self.strain.silence(settings) or prose_silence(settings, snapshot)

    def place_silence(self, snapshot: Snapshot) -> NoSuggestion | None:
        """Return why an automatic request will get none at a place where the user may be next."""
        return prose_silence(self.settings_of(snapshot.document), snapshot)

    def debounce_ms(self, document: Document) -> int:
        """Return how long a key waits for the next one, by the settings and the machine."""
        settings = self.settings_of(document)
        return settings.debounce_ms * self.strain.slowness(settings)

    def has_typed(self, uri: str) -> bool:
        """Whether anything was typed in a document since this was asked last."""
        watched = self._of.get(uri)
        return watched is not None and watched.last_change.take_typed()

    def document_changed(
        self,
        before: Document,
        after: Document,
        changes: Sequence[types.TextDocumentContentChangeEvent],
    ) -> None:
        """Take a change of a document, as the client sent it."""
        change = change_between(before, after, changes)
        self._watch(after).change(change, before.text, after.text)

    def answered(self, snapshot: Snapshot, ghosts: Sequence[GhostText]) -> None:
        """Take the suggestions that a request is answered with: the client shows one."""
        document = snapshot.document
        if not ghosts or not snapshot.is_current(self.documents):
            return
        start, typed = _begin(snapshot)
        texts = [snapshot.selected_text + ghost.text for ghost in ghosts]
        candidates = [
            Followed(start=start, text=text, num_in=len(typed))
            for text in texts
            if text.startswith(typed)
        ]
        if candidates:
            self._watch(document).show(tuple(candidates))

    def dismissed(self, document: Document, position: types.Position) -> None:
        """Take that the user dismissed the suggestion at a position."""
        self._watch(document).dismiss(document.text, document.offset_at(position))

    def forget(self, uri: str) -> None:
        """Drop what is known of a closed document."""
        watched = self._of.pop(uri, None)
        if watched is not None:
            watched.kept.close()

    def close(self) -> None:
        """Drop what is known of all documents."""
        for uri in list(self._of):
            self.forget(uri)

    def _watch(self, document: Document) -> Watched:
        if document.uri not in self._of:
            counting = _Counting(self.count, language_of(document).id)
            self._of[document.uri] = Watched(on=counting, kept=KeptTexts(counting.ended))
        return self._of[document.uri]


def _begin(snapshot: Snapshot) -> tuple[int, str]:
    """Return where in the document a suggestion begins, and what of it is typed already."""
    document, selected = snapshot.document, snapshot.selected
    if selected is None:
        return snapshot.offset - snapshot.document_start, ""
    start, end = (document.offset_at(it) for it in (selected.range.start, selected.range.end))
    return start, document.text[start:end]
