"""Decides what the user wants no suggestion for now, and follows what becomes of those shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Self

from lsprotocol import types

from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.difference import replaced_range
from intarsia.infill.text_change import Followed, TextChange, trimmed_change
from intarsia.lsp.documents.documents import Document, DocumentChange, Documents
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.feature import Feature
from intarsia.lsp.machine import Strain
from intarsia.lsp.manners.watched import KeptTexts, Watched
from intarsia.lsp.settings import Settings
from intarsia.lsp.statistics import LanguageCounts, Recorder
from intarsia.lsp.suggestions.request_outcome import RequestOutcome

if TYPE_CHECKING:
    from intarsia.infill.syntax.prose import Prose
    from intarsia.lsp.session import Session


@dataclass(kw_only=True)
class Manners(Feature):
    """The documents of one client. ``count`` gets what is to be counted."""

    documents: Documents
    strain: Strain
    count: Callable[[str, LanguageCounts], None]
    _of: dict[str, Watched] = field(default_factory=dict)  # by URI

    @classmethod
    def for_session(cls, session: "Session") -> Self:
        return cls(
            documents=session.documents,
            strain=session.feature(Strain),
            count=session.feature(Recorder).count,
        )

    def silence(self, snapshot: Snapshot) -> NoSuggestion | None:
        """Return why an automatic request gets no suggestion, None where it may get one."""
        document, settings = snapshot.document, snapshot.settings
        if snapshot.selected is not None and not settings.over_menu:
            return NoSuggestion(reason="the editor's own menu is open (overMenu)", kind="menu")
        start, typed = _begin(snapshot)
        offset = start + len(typed)
        watched = self._of.get(document.uri)
        if watched is not None:
            if watched.goes_on(offset):
                return None
            if silence := watched.silence(document.text, offset):
                return silence
        return self.strain.silence(settings) or prose_silence(snapshot)

    def debounce_ms(self, snapshot: Snapshot) -> int:
        """Return how long a key waits for the next one, by the settings and the machine."""
        settings = snapshot.settings
        return settings.debounce_ms * self.strain.slowness(settings)

    def has_typed(self, uri: str) -> bool:
        """Whether anything was typed in a document since this was asked last."""
        watched = self._of.get(uri)
        return watched is not None and watched.last_change.take_typed()

    def changed(self, change: DocumentChange) -> None:
        before, after = change.before, change.after
        text_change = change_between(before, after, change.changes)
        self._watch(after).change(text_change, before.text, after.text)

    def answered(self, snapshot: Snapshot, outcome: RequestOutcome) -> None:
        """Follow the suggestions that a request is answered with: the client shows one."""
        document, ghosts = snapshot.document, outcome.ghosts
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
        """Note that the user dismissed the suggestion at a position."""
        self._watch(document).dismiss(document.text, document.offset_at(position))

    def closed(self, uri: str) -> None:
        watched = self._of.pop(uri, None)
        if watched is not None:
            watched.kept.close()

    async def close(self) -> None:
        for uri in list(self._of):
            self.closed(uri)

    def _watch(self, document: Document) -> Watched:
        if document.uri not in self._of:
            count = partial(self.count, document.language.id)

            def ended(is_kept: bool) -> None:
                count(LanguageCounts(kept=int(is_kept), ended=1))

            self._of[document.uri] = Watched(count=count, kept=KeptTexts(ended))
        return self._of[document.uri]


def _begin(snapshot: Snapshot) -> tuple[int, str]:
    """Return where in the document a suggestion begins, and what of it is typed already."""
    document, selected = snapshot.document, snapshot.selected
    if selected is None:
        return snapshot.place, ""
    start, end = (document.offset_at(it) for it in (selected.range.start, selected.range.end))
    return start, document.text[start:end]


_IN_COMMENT = NoSuggestion(reason="the cursor is in a comment (inComments)", kind="comment")
_REASONS: "Mapping[Prose, NoSuggestion]" = {
    "comment": _IN_COMMENT,
    "documentation": _IN_COMMENT,
    "string": NoSuggestion(reason="the cursor is in a string (inStrings)", kind="string"),
}


def prose_silence(snapshot: Snapshot) -> NoSuggestion | None:
    """Return why the settings want nothing at a cursor, None where it is in code."""
    from intarsia.infill.syntax.parse import parse
    from intarsia.infill.syntax.prose import prose_at

    settings = snapshot.settings
    if settings.in_strings and settings.in_comments == "always":
        return None
    prose = prose_at(parse(snapshot.text, snapshot.language), snapshot.offset)
    if prose is None or prose in _wanted(settings):
        return None
    return _REASONS[prose]


def _wanted(settings: Settings) -> "set[Prose]":
    wanted: set[Prose] = {"string"} if settings.in_strings else set()
    if settings.in_comments != "never":
        wanted.add("documentation")
    if settings.in_comments == "always":
        wanted.add("comment")
    return wanted


def change_between(
    before: Document, after: Document, changes: Sequence[types.TextDocumentContentChangeEvent]
) -> TextChange:
    """Return what ``changes`` have made of the text.

    One change costs its own length. Of several, or of a whole text, the changed range is found.
    Some clients send the keys of a moment together: these are one change, as they leave no
    unchanged text between them. Others send changes of several lines as one, with all lines from
    the first to the last: each changed line is a place.
    """
    if len(changes) == 1 and isinstance(changes[0], types.TextDocumentContentChangePartial):
        place, inserted = changes[0].range, changes[0].text
        start = before.offset_at(place.start)
        end = max(start, before.offset_at(place.end))
        removed = before.text[start:end]
        change = trimmed_change(start, removed, inserted)
        return replace(change, texts=_changed_lines(removed, inserted))
    start, old_end, new_end = replaced_range(before.text, after.text)
    texts = () if _touch_each_other(changes) else tuple(change.text for change in changes)
    return TextChange(
        start=start,
        removed=before.text[start:old_end],
        inserted=after.text[start:new_end],
        texts=texts,
    )


def _changed_lines(removed: str, inserted: str) -> tuple[str, ...]:
    """Return what each of several changed lines gets; nothing if the lines are not as many."""
    old, new = removed.split("\n"), inserted.split("\n")
    if len(old) != len(new):
        return ()
    changed = [(one, other) for one, other in zip(old, new, strict=True) if one != other]
    if len(changed) < 2:
        return ()
    return tuple(trimmed_change(0, one, other).inserted for one, other in changed)


def _touch_each_other(changes: Sequence[types.TextDocumentContentChangeEvent]) -> bool:
    """Whether each change is where the ones before it were: keys, one after the other."""
    start, end = (0, 0), (0, 0)
    for number, change in enumerate(changes):
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return len(changes) == 1
        first, last = _place(change.range.start), _place(change.range.end)
        if number and not (first <= end and last >= start):
            return False
        start = min(start, first) if number else first
        end = max(_end_of(first, change.text), end if number and last < end else first)
    return True


def _place(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _end_of(start: tuple[int, int], text: str) -> tuple[int, int]:
    """Return where an inserted text ends, or a little after that, in any encoding of positions."""
    *lines, last = text.split("\n")
    units = len(last.encode("utf-8", "surrogatepass"))
    return start[0] + len(lines), units + (0 if lines else start[1])
