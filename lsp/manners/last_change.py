"""Silence right after a change that is no typing: a deletion, undo, a paste, a formatter's edits.

It holds in the changed lines, until the next typed character.
"""

from collections.abc import Mapping

from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.lines import line_end, line_start
from intarsia.infill.typing.change import TextChange, TextRange
from intarsia.infill.typing.kind import ChangeKind, kind_of
from intarsia.infill.typing.restored import RecentTexts

_SILENT: Mapping[ChangeKind, str] = {
    "deleted": "text was just deleted here",
    "undone": "a change was just undone or redone here",
    "pasted": "text was just pasted here",
    "several": "several places were just changed at once, as a formatter does",
}


class LastChange:
    """The last change of one document, as far as it says what the user does."""

    def __init__(self) -> None:
        self._texts = RecentTexts()
        self._kind: ChangeKind = "typed"
        self._place = TextRange(start=0, end=0)
        self._is_fresh = False

    def note(self, change: TextChange, old: str, new: str, *, is_suggestion: bool) -> None:
        """Take a change. ``is_suggestion``: it accepts our own, so it is no paste."""
        is_restored = self._texts.is_restored(old, change, new)
        if change.is_empty:
            return
        kind = "typed" if is_suggestion else kind_of(change, old, is_restored=is_restored)
        self._place = self._place.after(change)
        if kind != "blank":
            self._kind = kind
            self._place = TextRange(start=change.start, end=change.new_end)
            self._is_fresh = kind == "typed"

    def take_typed(self) -> bool:
        """Return whether anything was typed since this was asked last."""
        is_fresh, self._is_fresh = self._is_fresh, False
        return is_fresh

    def silence(self, text: str, offset: int) -> NoSuggestion | None:
        """Return why nothing is suggested at an offset, None where something may be."""
        reason = _SILENT.get(self._kind)
        if reason is None:
            return None
        start, end = line_start(text, self._place.start), line_end(text, self._place.end)
        if not start <= offset <= end:
            return None
        return NoSuggestion(reason=f"{reason}: the next typed character ends it", kind=self._kind)
