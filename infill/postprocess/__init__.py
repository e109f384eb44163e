"""Cleans the model's raw text into a suggestion: a list of small filters, applied in order.

A filter takes the fill and its context. It returns the fill, changed or not, or the reason why
nothing is suggested. ``clean`` applies them all. In drawings ``║`` is the cursor, and the fill is
between ``├`` and ``┤``.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from intarsia.infill.canvas import Canvas
from intarsia.infill.holes.hole import Hole
from intarsia.infill.languages import Language
from intarsia.infill.postprocess.cut import (
    cut_at_closing_mark,
    cut_at_hidden_character,
    cut_repetition,
    cut_suffix_overlap,
    cut_to_max_lines,
    cut_to_scope,
)
from intarsia.infill.postprocess.fit import (
    CleaningContext,
    balance_brackets,
    cleaning_context,
    reject_broken,
    reject_longer_word,
    shorten_broken_line,
)
from intarsia.infill.postprocess.line_ends import (
    close_on_own_line,
    drop_broken_tail,
    drop_code_fence,
    drop_leading_blank_lines,
    drop_special_tokens,
    end_begun_line,
    fix_indentation,
    keep_line_end,
    trim_blank,
)
from intarsia.infill.suggestion import NoSuggestion, Suggestion
from intarsia.infill.syntax.text import newline_of, with_plain_newlines

Filter: TypeAlias = Callable[[str, CleaningContext], str | NoSuggestion]

MAX_RAW_CHARS = 8_000
"""No hole is this long; text after it is not read."""

FILTERS: tuple[Filter, ...] = (
    drop_special_tokens,
    cut_at_hidden_character,
    drop_code_fence,
    reject_longer_word,
    drop_leading_blank_lines,
    cut_to_max_lines,
    cut_repetition,
    cut_at_closing_mark,
    cut_suffix_overlap,
    cut_to_scope,
    fix_indentation,
    trim_blank,
    balance_brackets,
    drop_broken_tail,
    close_on_own_line,
    keep_line_end,
    end_begun_line,
    shorten_broken_line,
    reject_broken,
)


def clean(
    raw: str, text: str, hole: Hole, canvas: Canvas, language: Language
) -> Suggestion | NoSuggestion:
    """Return the text after every filter, with the file's line ends, or why nothing is left."""
    context = cleaning_context(text, hole, canvas, language)
    fill = with_plain_newlines(raw[:MAX_RAW_CHARS])
    for apply in FILTERS:
        if not fill.strip():
            return NoSuggestion(reason=_why_empty(raw, apply), kind="empty")
        filtered = apply(fill, context)
        if isinstance(filtered, NoSuggestion):
            return filtered
        fill = filtered
    return Suggestion(text=fill.replace("\n", newline_of(text)), start=hole.start, end=hole.end)


_WHY_EMPTY: Mapping[Filter, str] = {
    drop_special_tokens: "the model wrote nothing",
    cut_suffix_overlap: "the text would repeat what follows the cursor",
    balance_brackets: "a bracket would be closed that is not open",
}


def _why_empty(raw: str, next_filter: Filter) -> str:
    if not raw.strip():
        return "the model wrote nothing"
    last_filter = FILTERS[FILTERS.index(next_filter) - 1]
    return _WHY_EMPTY.get(last_filter, "no part of the text fits here")
