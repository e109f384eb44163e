"""Cuts prefix and suffix of a hole to a budget: at scope edges, else at line edges or word edges.

Budgets are in tokens, which are estimated from characters: only the engine has a tokenizer.
"""

import unicodedata

from intarsia.infill.holes.token_healing import is_word_character
from intarsia.infill.syntax.lines import line_start, next_line_start, splits_line_end
from intarsia.infill.syntax.nodes import edges_of_scopes
from intarsia.infill.syntax.parse import Syntax

CHARS_PER_TOKEN = 3.2
SCOPE_SHARE = 0.25
"""The share of a budget that is given up to cut at a scope's edge and not just at a line's."""

_ZERO_WIDTH_JOINER = "\u200d"
_MARKS = ("Mn", "Mc", "Me", "Sk")


def budget_chars(num_tokens: int) -> int:
    """Return about how many characters ``num_tokens`` of code have."""
    return int(num_tokens * CHARS_PER_TOKEN)


def prefix_start(text: str, end: int, num_tokens: int, syntax: Syntax | None) -> int:
    """Return where a prefix that ends at ``end`` must begin to stay within the budget."""
    max_chars = budget_chars(num_tokens)
    earliest = end - max_chars
    if earliest <= 0:
        return 0
    latest = earliest + int(max_chars * SCOPE_SHARE)
    for edge in edges_of_scopes(syntax, earliest, latest):
        start = line_start(text, edge)
        if start >= earliest:
            return start
    start = earliest if _is_line_edge(text, earliest) else next_line_start(text, earliest)
    return start if start <= line_start(text, end) else _word_edge_after(text, earliest, end)


def suffix_end(text: str, start: int, num_tokens: int, syntax: Syntax | None) -> int:
    """Return where a suffix that begins at ``start`` must end to stay within the budget."""
    max_chars = budget_chars(num_tokens)
    latest = start + max_chars
    if latest >= len(text):
        return len(text)
    earliest = latest - int(max_chars * SCOPE_SHARE)
    for edge in reversed(edges_of_scopes(syntax, earliest, latest)):
        end = line_start(text, edge)
        if earliest <= end:
            return end
    end = latest if _is_line_edge(text, latest) else line_start(text, latest)
    return end if end > start else _word_edge_before(text, latest, start)


def _is_line_edge(text: str, offset: int) -> bool:
    return line_start(text, offset) == offset and not splits_line_end(text, offset)


def _word_edge_after(text: str, offset: int, end: int) -> int:
    while offset < end and not _may_cut(text, offset):
        offset += 1
    return offset


def _word_edge_before(text: str, offset: int, start: int) -> int:
    while offset > start and not _may_cut(text, offset):
        offset -= 1
    return offset


def _may_cut(text: str, offset: int) -> bool:
    """Whether a cut here splits no word and no character as it is seen."""
    left, right = text[offset - 1], text[offset]
    is_in_word = is_word_character(left) and is_word_character(right)
    is_joined = right == _ZERO_WIDTH_JOINER or left == _ZERO_WIDTH_JOINER
    is_pair = "\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff"
    is_mark = unicodedata.category(right) in _MARKS and not right.isascii()
    is_flag = all("\U0001f1e6" <= each <= "\U0001f1ff" for each in (left, right))
    return not (
        is_in_word or is_joined or is_pair or is_mark or is_flag or splits_line_end(text, offset)
    )
