"""What the search for next edits needs to know of the session, and tells it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from intarsia.infill.next_edit.show_rule import Level
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.documents.windows import Windows
from intarsia.lsp.next_edits.open_offers import OpenOffer
from intarsia.lsp.status.next_edit_count import NextEditCount

if TYPE_CHECKING:
    from intarsia.infill.canvas.window import Window


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """``level_of`` is None for a document that gets no offers."""

    level_of: Callable[[Document], Level | None]
    model: Callable[[], str | None]
    windows: Sequence[Windows]  # that fills have shown
    is_filling_ahead: Callable[[], bool]
    offers_changed: Callable[[Document, Sequence[OpenOffer]], None]
    count: Callable[[NextEditCount], None]

    def windows_of(self, uri: str) -> "Sequence[Window]":
        """Return what fills have shown of a document."""
        return [window for windows in self.windows for window in windows.of(uri)]
