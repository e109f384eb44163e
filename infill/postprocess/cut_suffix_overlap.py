"""Ends a fill where it begins to repeat what already stands after the hole."""

from collections.abc import Sequence
from itertools import takewhile

from intarsia.infill.canvas.stop_rules import is_specific
from intarsia.infill.holes.token_healing import is_word_character
from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.syntax.brackets import balance_of

MAX_CHARS_BALANCED = 1_500
MIN_CHARS_IN_WORD = 2


def cut_suffix_overlap(fill: str, context: CleaningContext) -> str:
    """Cut whole lines that follow the hole, then the rest of the hole's own line."""
    lines = _cut_following_lines(fill.split("\n"), context)
    kept = "\n".join(lines)
    return _cut_rest_of_line(kept, context) if context.rest.strip() else kept


def _cut_following_lines(lines: list[str], context: CleaningContext) -> list[str]:
    """Cut at the first line from which on the fill goes through the text after the hole."""
    following = [line.rstrip() for line in context.following]
    after = _lines_after(context, following)
    for index, line in enumerate(lines):
        whole = context.line_before + line if index == 0 else line
        if after and whole.rstrip() == after[0]:
            is_told = is_specific(whole) if index > 0 else len(lines) == 1
            if is_told or _goes_on([whole, *lines[index + 1 :]], after):
                return lines[:index] or [""]
        rest = context.rest.strip()
        is_rest = rest != "" and line.rstrip().endswith(rest)
        if is_rest and _goes_on([rest, *lines[index + 1 :]], [rest, *following]):
            return [*lines[:index], line]
    return lines


def _lines_after(context: CleaningContext, following: list[str]) -> list[str]:
    """Return the lines after the hole, its own first where the hole is at the indentation."""
    if not context.rest.strip():
        return following
    if context.line_before.strip():
        return []
    return [(context.line_before + context.rest).rstrip(), *following]


def _goes_on(lines: list[str], after: Sequence[str]) -> bool:
    """Whether these lines begin as the text after the hole does: with two of its lines, or all.

    Blank lines do not count; the last line may be cut short where another one tells.
    """
    written = [line.rstrip() for line in lines if line.strip()]
    pairs = list(zip(written, after, strict=False))
    num_equal = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    if num_equal == 1 and len(pairs) == len(written) == 2:
        return after[1].startswith(written[1])
    return num_equal >= 2 or 0 < num_equal == len(written)


def _cut_rest_of_line(fill: str, context: CleaningContext) -> str:
    if _repeats_cut_word(fill, context):
        return ""
    written = fill.rstrip(" \t")
    cuts = [written[:-count] for count in _overlaps(written, context.rest)]
    candidates = [*cuts, fill, *_cuts_at_unmatched(fill)]
    return min(candidates, key=lambda kept: _num_unbalanced(kept, context))


def _overlaps(fill: str, rest: str) -> list[int]:
    """Return by how many characters the fill's end may be the rest's beginning, longest first.

    Words are compared whole, but for a rest that is written to its end: it may begin in a word.
    """
    all_of_it = len(rest.rstrip())
    return [
        count
        for count in range(min(len(fill), all_of_it), 0, -1)
        if fill.endswith(rest[:count])
        and rest[:count].strip()
        and not _splits_word(rest, count)
        and (count == all_of_it >= MIN_CHARS_IN_WORD or not _splits_word(fill, len(fill) - count))
    ]


def _cuts_at_unmatched(fill: str) -> list[str]:
    """Return the fill up to its first closing bracket that closes nothing in it: the rest of the
    line may be what closes it there, however the fill would have gone on."""
    unmatched = balance_of(fill).unmatched
    return [fill[: unmatched[0]].rstrip(" \t")] if unmatched else []


def _num_unbalanced(kept: str, context: CleaningContext) -> int:
    """Count brackets without partner, from a little before the hole to the end of its line."""
    balance = balance_of(context.before[-MAX_CHARS_BALANCED:] + kept + context.rest)
    return len(balance.unmatched) + len(balance.unclosed)


def _repeats_cut_word(fill: str, context: CleaningContext) -> bool:
    """Whether the cursor cut a word in two and the fill begins with its second half again."""
    if not _splits_word(context.line_before + context.rest, len(context.line_before)):
        return False
    length = 0
    while length < len(context.rest) and is_word_character(context.rest[length]):
        length += 1
    return fill.startswith(context.rest[:length]) and not _splits_word(fill, length)


def _splits_word(text: str, offset: int) -> bool:
    if not 0 < offset < len(text):
        return False
    return is_word_character(text[offset - 1]) and is_word_character(text[offset])
