"""Finds the holes of a text: unwritten bodies, placeholders, and marks that the user chose.

The places are in file order and neither overlap nor touch. Broken code is searched like any other,
and so is code in the fences of a Markdown document. In a text beyond the parser's limits only marks
are found.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from intarsia.infill.holes.marked_hole import MarkedHole
from intarsia.infill.holes.placeholders import placeholder_holes
from intarsia.infill.languages import Language
from intarsia.infill.syntax.embedded_code import MAX_CHARS, find_fences
from intarsia.infill.syntax.parse import parse, parse_afresh

MAX_FENCES = 200
"""Code in later fences of a document is not searched."""


def find_holes(
    text: str, language: Language, *, marks: Sequence[str] = (), is_stub: bool = False
) -> tuple[MarkedHole, ...]:
    """Return every place to fill. In a file of declarations (``is_stub``) only marks count."""
    marked = [MarkedHole(start=start, end=end) for start, end in _marked(text, marks)]
    found = () if is_stub else _placeholders(text, language)
    return _apart([*marked, *found])


def holes_within(holes: Sequence[MarkedHole], start: int, end: int) -> tuple[MarkedHole, ...]:
    """Return the holes that are wholly inside ``text[start:end]``."""
    return tuple(hole for hole in holes if start <= hole.start and hole.end <= end)


def _placeholders(text: str, language: Language) -> Iterator[MarkedHole]:
    if language.id == "markdown":
        yield from _placeholders_in_fences(text)
    elif syntax := parse(text, language):
        yield from placeholder_holes(syntax)


def _placeholders_in_fences(text: str) -> Iterator[MarkedHole]:
    if len(text) > MAX_CHARS:
        return
    for fence in find_fences(text)[:MAX_FENCES]:
        if fence.is_quoted:  # a body of several lines would need its marks
            continue
        if syntax := parse_afresh(text[fence.start : fence.end], fence.language):
            for hole in placeholder_holes(syntax):
                start, end = fence.start + hole.start, fence.start + hole.end
                yield replace(hole, start=start, end=end)


def _marked(text: str, marks: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the user's marks; of two that begin at one place, the longer one."""
    longest_first = sorted({mark for mark in marks if mark}, key=len, reverse=True)
    if longest_first:
        for match in re.finditer("|".join(map(re.escape, longest_first)), text):
            yield match.span()


def _apart(holes: Sequence[MarkedHole]) -> tuple[MarkedHole, ...]:
    """Drop holes that overlap or touch an earlier one of the sequence; sort the rest by place."""
    kept: list[MarkedHole] = []
    for hole in holes:
        index = bisect_left(kept, hole.start, key=lambda other: other.start)
        is_after_previous = index == 0 or kept[index - 1].end < hole.start
        if is_after_previous and (index == len(kept) or hole.end < kept[index].start):
            kept.insert(index, hole)
    return tuple(kept)
