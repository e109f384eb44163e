"""Ends a fill where it begins to repeat the text after the hole.

x = f(├a)┤)   →   x = f(├a┤)
├a = 1⏎return a┤⏎return a   →   ├a = 1┤⏎return a
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from intarsia.infill.canvas.stop_rules import is_specific
from intarsia.infill.holes.token_healing import is_word_character
from intarsia.infill.postprocess.context import CleaningContext, balance_with, num_unbalanced
from intarsia.infill.syntax.brackets import balance_of

MIN_CHARS_IN_WORD = 2
MAX_OVERLAPS = 16
"""Of a row of equal signs any number overlaps. The longest overlaps are compared."""


def cut_suffix_overlap(fill: str, context: CleaningContext) -> str:
    """Cut whole lines that follow the hole, then the rest of the hole's own line."""
    lines = _cut_following_lines(fill.split("\n"), context)
    kept = "\n".join(lines)
    return _cut_rest_of_line(kept, context) if context.rest.strip() else kept


def _cut_following_lines(lines: list[str], context: CleaningContext) -> list[str]:
    """Cut at the first line from which the fill repeats the lines after the hole."""
    following = [line.rstrip() for line in context.following]
    after = _lines_after(context, following)
    if context.hole.is_inserted and _stands_for(lines[0], after[:MAX_LINES_COMPARED]):
        return [""]
    for index, line in enumerate(lines):
        whole = context.line_before + line if index == 0 else line
        if after and whole.rstrip() == after[0]:
            is_clear = is_specific(whole) if index > 0 else len(lines) == 1
            if is_clear or _repeats([whole, *lines[index + 1 :]], after):
                return lines[:index] or [""]
        rest = context.rest.strip()
        is_rest = rest != "" and line.rstrip().endswith(rest)
        if is_rest and _repeats([rest, *lines[index + 1 :]], [rest, *following]):
            return [*lines[:index], line]
    return lines


MAX_LINES_COMPARED = 3

_KEYS = (
    re.compile(r"[\"']?([\w.$-]+)[\"']?\s*(?::=|[:=](?![:=]))"),
    re.compile(
        r"(?:(?:async|default|export|pub)\s+)*(?:class|const|enum|fn|function|interface|let|struct|var)"
        r"\s+(\w+)"
    ),
)


def _stands_for(line: str, after: Sequence[str]) -> bool:
    """Whether a new line is one that follows, or gives the next line's key or name a new value."""
    known = {_without_marks(each) for each in after}
    for pattern in _KEYS:
        keys = [pattern.match(each.strip()) for each in (line, *after[:1])]
        if len(keys) == 2 and keys[0] and keys[1] and keys[0][1] == keys[1][1]:
            return True
    return is_specific(line) and _without_marks(line) in known


def _without_marks(line: str) -> str:
    return line.strip(" \t)]};,")


def _lines_after(context: CleaningContext, following: list[str]) -> list[str]:
    """Return the lines after the hole, beginning with its own if the hole is at its indentation."""
    if not context.rest.strip():
        return following
    if context.line_before.strip():
        return []
    return [(context.line_before + context.rest).rstrip(), *following]


def _repeats(lines: list[str], after: Sequence[str]) -> bool:
    """Whether the lines begin with two lines of the text after the hole, or are all from it.

    Blank lines do not count. Of two lines, the second may be cut short.
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
    overlaps = islice(_overlaps(written, context.rest), MAX_OVERLAPS)
    cuts = [written[:-count] for count in overlaps]
    candidates = [*cuts, fill, *_cuts_at_unmatched(fill)]
    return min(candidates, key=lambda kept: num_unbalanced(balance_with(kept, context)))


def _overlaps(fill: str, rest: str) -> Iterator[int]:
    """Yield by how many characters the fill's end overlaps the rest's beginning, longest first.

    Words are compared whole. Only an overlap with all of the rest may begin inside a word.
    """
    num_rest = len(rest.rstrip())
    return (
        count
        for count in range(min(len(fill), num_rest), 0, -1)
        if fill.endswith(rest[:count])
        and rest[:count].strip()
        and not _splits_word(rest, count)
        and (count == num_rest >= MIN_CHARS_IN_WORD or not _splits_word(fill, len(fill) - count))
    )


def _cuts_at_unmatched(fill: str) -> list[str]:
    """Return the fill up to its first unmatched closing bracket.

    The rest of the line may begin with that bracket, whatever the model wrote after it.
    """
    unmatched = balance_of(fill).unmatched
    return [fill[: unmatched[0]].rstrip(" \t")] if unmatched else []


def _repeats_cut_word(fill: str, context: CleaningContext) -> bool:
    """Whether the cursor is inside a word and the fill repeats the word's second half."""
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
