"""The lines around a place that are written again, and the smallest replacement in the answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from intarsia.engine.families.next_edit.edited_lines import WindowLine
from intarsia.engine.families.next_edit.line_drop import LineDrop


@dataclass(frozen=True, kw_only=True, slots=True)
class RegionSize:
    """How many lines around a place are written again."""

    above: int
    below: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LineChange:
    """New lines in the place of ``num_lines`` lines from ``first`` on (an index into a region)."""

    first: int
    num_lines: int
    new_lines: Sequence[str]


def places_to_correct(
    drops: Sequence[LineDrop], lines: Sequence[WindowLine], size: RegionSize, *, most: int
) -> Iterator[tuple[LineDrop, Sequence[WindowLine]]]:
    """Yield places and the lines around each, in the order of their drops, no line as two places.

    At most ``most`` places are yielded.
    """
    tried: set[int] = set()
    num_tried = 0
    for found in drops:
        if found.line.number in tried:
            continue
        if num_tried == most:
            return
        num_tried += 1
        region = region_around(lines, found.line, size)
        tried.update(line.number for line in region)
        yield found, region


def region_around(
    lines: Sequence[WindowLine], place: WindowLine, size: RegionSize
) -> Sequence[WindowLine]:
    """Return the lines next to each other around a place, as far as these may change."""
    at = lines.index(place)
    first = at
    while first > 0 and at - first < size.above and _touch(lines[first - 1], lines[first]):
        first -= 1
    last = at
    while last + 1 < len(lines) and last - at < size.below and _touch(lines[last], lines[last + 1]):
        last += 1
    return lines[first : last + 1]


def smallest_change(old: Sequence[str], new: Sequence[str], place: int) -> LineChange | None:
    """Return the change of whole lines that is nearest to line ``place``; None if there is none."""
    changes = [
        LineChange(first=start, num_lines=end - start, new_lines=new[new_start:new_end])
        for tag, start, end, new_start, new_end in SequenceMatcher(
            None, old, new, autojunk=False
        ).get_opcodes()
        if tag != "equal"
    ]
    return min(changes, key=lambda change: _distance(change, place), default=None)


def _distance(change: LineChange, place: int) -> int:
    last = change.first + max(change.num_lines, 1) - 1
    return max(change.first - place, place - last, 0)


def _touch(first: WindowLine, second: WindowLine) -> bool:
    return first.is_followed_by(second) and first.may_change and second.may_change
