"""The lines around a place that are written again, and the smallest replacement in the answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from intarsia.engine.families.masked_causal.next_edit.drop import LineDrop
from intarsia.engine.families.masked_causal.next_edit.edited_window import WindowLine


@dataclass(frozen=True, kw_only=True, slots=True)
class LineChange:
    """New lines in the place of ``num_lines`` lines from ``first`` on (an index into a region)."""

    first: int
    num_lines: int
    new_lines: Sequence[str]


def places_to_correct(
    drops: Sequence[LineDrop], lines: Sequence[WindowLine], num_above: int, *, most: int
) -> Iterator[tuple[LineDrop, Sequence[WindowLine]]]:
    """Yield places and their regions, in the order of their drops, no line as two places.

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
        region = region_of(lines, found.line, num_above)
        tried.update(line.number for line in region)
        yield found, region


def region_of(
    lines: Sequence[WindowLine], place: WindowLine, num_above: int
) -> Sequence[WindowLine]:
    """Return a place after up to ``num_above`` lines next to it, as far as these may change."""
    last = lines.index(place)
    first = last
    while first > 0 and last - first < num_above and _touch(lines[first - 1], lines[first]):
        first -= 1
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
