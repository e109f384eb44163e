"""The hole at a cursor, as an editor asks for it: what is asked of the engine, what is inserted.

Comes in: text, cursor, language, options; goes out: a planned fill whose answer is read as text
that goes in at the cursor.
"""

from dataclasses import dataclass

from intarsia.engine.ipc.messages import Filled
from intarsia.filling.options import FillOptions
from intarsia.filling.planned_fill import PlannedFill, plan_fill
from intarsia.infill.hole import find_hole, hole_for_range
from intarsia.infill.insertion import inserted_at_cursor
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion, Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class CursorFill:
    """``planned`` is the hole at ``cursor``; it may begin beside it (in a CRLF)."""

    planned: PlannedFill
    cursor: int

    @property
    def is_at_cursor(self) -> bool:
        """Whether the engine's text, as it is, would be inserted at the cursor."""
        return self.planned.hole.start == self.cursor

    def read(self, filled: Filled) -> str | NoSuggestion:
        """Clean the engine's text and place it at the cursor."""
        return self.place(self.planned.read(filled))

    def place(self, found: Suggestion | NoSuggestion) -> str | NoSuggestion:
        """Place what was found at the cursor."""
        if isinstance(found, NoSuggestion):
            return found
        return inserted_at_cursor(found, self.planned.text, self.cursor)


def plan_at_cursor(
    text: str, cursor: int, language: Language, options: FillOptions
) -> CursorFill | NoSuggestion:
    """Find the hole at the cursor and cut the text round it to the budget."""
    hole = find_hole(text, cursor, language)
    if isinstance(hole, NoSuggestion):
        return hole
    return CursorFill(planned=plan_fill(text, hole, language, options), cursor=cursor)


def plan_span_at_cursor(
    text: str, cursor: int, language: Language, options: FillOptions
) -> CursorFill:
    """Do the same for text of any length: what a user asks for who names an empty range."""
    hole = hole_for_range(text, cursor, cursor, language)
    return CursorFill(planned=plan_fill(text, hole, language, options), cursor=cursor)
