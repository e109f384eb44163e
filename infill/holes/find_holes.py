"""Finds what asks to be filled in a text: unwritten bodies, placeholders, and the user's marks.

Comes in: a text, its language, marks; goes out: places in file order that neither overlap nor
touch. Broken code is searched like any other; a text beyond the parser's limits has only marks.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from intarsia.infill.holes.marked_hole import MarkedHole
from intarsia.infill.holes.placeholders import unwritten_holes
from intarsia.infill.languages import Language
from intarsia.infill.syntax.parse import parse


def find_holes(
    text: str, language: Language, *, marks: Sequence[str] = (), is_stub: bool = False
) -> tuple[MarkedHole, ...]:
    """Return every place of the text. ``is_stub``: a file of declarations has only marks."""
    marked = [MarkedHole(start=start, end=end) for start, end in _marked(text, marks)]
    syntax = None if is_stub else parse(text, language)
    return _apart([*marked, *(unwritten_holes(syntax) if syntax else ())])


def holes_within(holes: Sequence[MarkedHole], start: int, end: int) -> tuple[MarkedHole, ...]:
    """Return those that a stretch of the text holds."""
    return tuple(hole for hole in holes if start <= hole.start and hole.end <= end)


def _marked(text: str, marks: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Return where the user's marks stand; of two that begin at one place, the longer one."""
    words = sorted({mark for mark in marks if mark}, key=len, reverse=True)
    if words:
        for match in re.finditer("|".join(map(re.escape, words)), text):
            yield match.span()


def _apart(found: Sequence[MarkedHole]) -> tuple[MarkedHole, ...]:
    """Drop what overlaps or touches a place that was found before it; put the rest in order."""
    kept: list[MarkedHole] = []
    for hole in found:
        at = bisect_left(kept, hole.start, key=lambda other: other.start)
        is_behind = at == 0 or kept[at - 1].end < hole.start
        if is_behind and (at == len(kept) or hole.end < kept[at].start):
            kept.insert(at, hole)
    return tuple(kept)
