"""Which change of a document is one edit: from the text at rest before it to the text at rest now.

A user who goes on in the same lines goes on with the same edit. A text that was there before is
undone or redone, and no edit. Knows neither time nor the engine.
"""

from collections import deque
from dataclasses import dataclass

from intarsia.infill.next_edit.settled_edit import Hunk, settled_edit
from intarsia.infill.suggestion import NoSuggestion

_MAX_REMEMBERED = 100
"""Texts of the last changes, by which undo and redo are recognized."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SettledEdit:
    """An edit, and the text before it."""

    before: str
    edit: Hunk


class SettledText:
    """The text of one document as it was last at rest, and the edit that led there."""

    def __init__(self, text: str) -> None:
        self.text = text  # at rest, with changes of white space that no edit holds yet
        self.last: SettledEdit | None = None
        self._settled = text  # without such changes
        self._remembered = deque([hash(text)], maxlen=_MAX_REMEMBERED)
        self._at_rest = deque([hash(text)], maxlen=_MAX_REMEMBERED)

    def is_restored(self, text: str) -> bool:
        """Note the text after a change; return whether it was there before, by undo or redo.

        One that was at rest then is at rest again.
        """
        known = hash(text)
        is_known = known in self._remembered
        self._remembered.append(known)
        if known in self._at_rest and text != self.text:
            self.reset(text)
        return is_known

    def settle(self, text: str) -> SettledEdit | NoSuggestion:
        """Take a text at rest; return the edit that led to it, or why there is none."""
        befores = [self._settled, self.text]
        if self.last is not None and self._goes_on(self.last.edit, text):
            befores.insert(0, self.last.before)
        self._at_rest.append(hash(text))
        found: Hunk | NoSuggestion = NoSuggestion(reason="nothing has changed")
        for before in befores:
            found = settled_edit(before, text)
            if isinstance(found, Hunk):
                self.text = self._settled = text
                self.last = SettledEdit(before=before, edit=found)
                return self.last
        if settled_edit(self.text, text) == _ONLY_BLANKS:
            self.text = text
        elif self.text != text:
            self.reset(text)
        assert isinstance(found, NoSuggestion), "an edit has been returned"
        return found

    def accept(self, text: str) -> None:
        """Take a text that differs by accepted offers: these belong to the last edit."""
        self.text = self._settled = text
        self._remembered.append(hash(text))
        self._at_rest.append(hash(text))

    def finish(self, text: str) -> None:
        """Take a text in which a rename has made the rest of the edit: the edit is over."""
        self.accept(text)
        self.last = None

    def reset(self, text: str) -> None:
        """Take a text that no edit led to."""
        self.text = self._settled = text
        self.last = None

    def _goes_on(self, edit: Hunk, text: str) -> bool:
        """Whether the text differs from the last one at rest within the lines of the last edit."""
        more = settled_edit(self.text, text)
        if isinstance(more, NoSuggestion):
            return False
        return more.start < edit.new_end and more.end > edit.new_start


_ONLY_BLANKS = NoSuggestion(reason="only white space has changed")
