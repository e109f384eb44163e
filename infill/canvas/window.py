"""Cuts prefix and suffix of a hole to a budget: at scope edges, else at line edges or word edges.

Budgets are in tokens, which are estimated from characters: only the engine has a tokenizer. The
edges move in steps: those of an earlier window are kept while they are not too near or too far,
because a moved edge has the engine read everything after it again.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from intarsia.infill.holes.hole import is_word_character
from intarsia.infill.syntax.lines import line_start, next_line_start, splits_line_end
from intarsia.infill.syntax.nodes import edges_of_scopes
from intarsia.infill.syntax.parse import Syntax

CHARS_PER_TOKEN = 3.2
SCOPE_SHARE = 0.25
"""The share of a budget that is given up to cut at a scope's edge and not just at a line's."""

FEWEST_KEPT = 0.5
MOST_KEPT = 1.5
"""An earlier edge is kept while the text up to it has this share of the budget."""

FEW_LINES_CHARS = 400
"""About how far a hole may move without the text after it being read again."""

_HEAD_CHARS = 200  # by which the start of a window is recognized
_CHARS_BEFORE_HEAD = 2  # a line end

_ZERO_WIDTH_JOINER = "\u200d"
_MARKS = ("Mn", "Mc", "Me", "Sk")


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """The part of a text that was shown around a hole, as it is found again in a later text."""

    start: int
    hole: int  # where the prefix ends
    head: str  # the text around the start
    suffix: str
    num_chars: int  # of the whole text


def window_of(text: str, start: int, hole: int, suffix: str) -> Window:
    """Return the window of ``text`` from ``start`` to a hole, and the ``suffix`` after the hole."""
    head = text[max(0, start - _CHARS_BEFORE_HEAD) : start + _HEAD_CHARS]
    return Window(start=start, hole=hole, head=head, suffix=suffix, num_chars=len(text))


def budget_chars(num_tokens: int) -> int:
    """Return about how many characters ``num_tokens`` of code have."""
    return int(num_tokens * CHARS_PER_TOKEN)


def prefix_start(
    text: str, end: int, num_tokens: int, syntax: Syntax | None, earlier: Sequence[Window] = ()
) -> int:
    """Return where a prefix that ends at ``end`` must begin to stay within the budget.

    The start of one of the ``earlier`` windows is kept, the newest first, where the prefix is then
    between half and one and a half of the budget.
    """
    kept = kept_start(text, end, num_tokens, earlier)
    if kept is not None:
        return kept
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


def kept_start(text: str, end: int, num_tokens: int, earlier: Sequence[Window]) -> int | None:
    """Return the start that a prefix keeps of the ``earlier`` windows, None if it keeps none."""
    max_chars = budget_chars(num_tokens)
    for start in _starts_again(text, end, earlier):
        is_long_enough = start == 0 or end - start >= FEWEST_KEPT * max_chars
        if is_long_enough and end - start <= MOST_KEPT * max_chars:
            return start
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """About how many characters of a window follow what was read of an earlier one."""

    prefix_chars: int
    suffix_chars: int


def unread_chars(
    text: str, start: int, end: int, suffix: str, earlier: Sequence[Window]
) -> Unread | None:
    """Return what a window adds to an earlier one, None if it keeps the start of none.

    A suffix is read again where the prefix before it has become longer or shorter by more than a
    few lines.
    """
    for window in earlier:
        if start in _starts_again(text, end, [window]):
            num_new = end - (window.hole + start - window.start)
            is_suffix_read = suffix == window.suffix and abs(num_new) <= FEW_LINES_CHARS
            return Unread(
                prefix_chars=max(0, num_new), suffix_chars=0 if is_suffix_read else len(suffix)
            )
    return None


def suffix_end(
    text: str, start: int, num_tokens: int, syntax: Syntax | None, earlier: Sequence[Window] = ()
) -> int:
    """Return where a suffix that begins at ``start`` must end to stay within the budget.

    The suffix of one of the ``earlier`` windows is kept under the same rule.
    """
    max_chars = budget_chars(num_tokens)
    for window in earlier:
        end = start + len(window.suffix)
        is_long_enough = end == len(text) or end - start >= FEWEST_KEPT * max_chars
        is_near = is_long_enough and end - start <= MOST_KEPT * max_chars
        is_kept = is_near and text.startswith(window.suffix, start)
        if is_kept and (end in (0, len(text)) or _may_cut(text, end)):
            return end
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


def _starts_again(text: str, end: int, earlier: Sequence[Window]) -> Iterator[int]:
    """Yield where earlier windows start in this text: at the same offset, or after an edit above.

    A window from the start of a text keeps that start, also where something is written before it.
    """
    for window in earlier:
        if window.start == 0:
            yield 0
            continue
        for start in (window.start, window.start + len(text) - window.num_chars):
            head_start = max(0, window.start - _CHARS_BEFORE_HEAD) - window.start + start
            if head_start >= 0 and start <= end and text.startswith(window.head, head_start):
                yield start


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
