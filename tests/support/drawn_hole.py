"""Turns a drawn source into its hole, its canvas, and the context that filters see."""

from dataclasses import dataclass

from marked_text import MARK, draw_filled, read_marked

from intarsia.infill.canvas import Budget, Canvas, build_canvas
from intarsia.infill.holes.hole import Hole, OpenHole, hole_for_range, open_at_cursor
from intarsia.infill.languages import Language, language_for_id
from intarsia.infill.postprocess.clean import clean
from intarsia.infill.postprocess.fit import CleaningContext, cleaning_context
from intarsia.infill.suggestion import NoSuggestion, Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnHole:
    """A hole in a text, which may have a new line for it."""

    text: str
    hole: Hole
    language: Language

    def canvas(self, budget: Budget | None = None) -> Canvas:
        return build_canvas(self.hole, budget or Budget())

    def context(self) -> CleaningContext:
        return cleaning_context(self.hole, self.canvas())

    def clean(self, raw: str) -> Suggestion | NoSuggestion:
        return clean(raw, self.hole, self.canvas())

    def draw(self, raw: str) -> str:
        """Draw the text with the cleaned fill, or return the reason why there is none."""
        result = self.clean(raw)
        if isinstance(result, NoSuggestion):
            return result.reason
        return draw_filled(self.text, result.start, result.end, result.text)


def drawn_hole(source: str, language_id: str = "python") -> DrawnHole:
    """Return the hole at one mark (a cursor) or between two (a range)."""
    marked, language = read_marked(source), language_for_id(language_id)
    if source.count(MARK) == 2:
        hole = hole_for_range(marked.text, marked.start, marked.end, language)
        return DrawnHole(text=marked.text, hole=hole, language=language)
    opened = open_at_cursor(marked.text, marked.start, language)
    assert isinstance(opened, OpenHole), opened
    return DrawnHole(text=opened.shown, hole=opened.hole, language=language)
