"""What of a commit is still to be changed: its other hunks, in the lines of the present text."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from intarsia_research.evaluation.edits.edit_case import EditCase, lines_of, with_hunks


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenHunk:
    """A hunk that is not put in yet. ``number`` is its place in the case's hunks."""

    number: int
    start: int  # line of the present text, from 0
    end: int  # excluded; equal to ``start``: an insertion before that line
    new_lines: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """Whole lines that are replaced: ``num_lines`` 0 inserts before ``first_line``."""

    first_line: int
    num_lines: int
    text: str

    @property
    def end_line(self) -> int:
        return self.first_line + self.num_lines


def present_text(case: EditCase, put_in: Collection[int]) -> str:
    """Return the file before the commit with the hunks of these numbers put in."""
    return with_hunks(case.before, [case.hunks[number] for number in sorted(put_in)])


def open_hunks(case: EditCase, put_in: Collection[int]) -> list[OpenHunk]:
    """Return the other hunks, in the order of the file."""
    found = []
    moved = 0
    for number, hunk in enumerate(case.hunks):
        new_lines = lines_of(hunk.new_text)
        if number in put_in:
            moved += len(new_lines) - (hunk.end - hunk.start)
        else:
            found.append(
                OpenHunk(
                    number=number,
                    start=hunk.start + moved,
                    end=hunk.end + moved,
                    new_lines=new_lines,
                )
            )
    return found


def touched(offer: Replacement, hunks: Sequence[OpenHunk]) -> list[OpenHunk]:
    """Return the hunks at the place of an offer. An insertion is at the line it comes before."""
    return [hunk for hunk in hunks if _is_at(offer, hunk)]


def hunks_of_line(line: int | None, hunks: Sequence[OpenHunk]) -> tuple[int, ...]:
    """Return the numbers of the hunks that have a line. An insertion has the one after it."""
    return tuple(
        hunk.number
        for hunk in hunks
        if line is not None and hunk.start <= line < max(hunk.end, hunk.start + 1)
    )


def present_lines(case: EditCase, put_in: Collection[int], number: int) -> tuple[int, int]:
    """Return the first and the end line of a hunk that was put in, in the present text."""
    hunk = case.hunks[number]
    moved = sum(
        len(lines_of(other.new_text)) - (other.end - other.start)
        for other in (case.hunks[above] for above in put_in if above < number)
    )
    return hunk.start + moved, hunk.start + moved + len(lines_of(hunk.new_text))


def exact_hunks(
    offer: Replacement, lines: Sequence[str], hunks: Sequence[OpenHunk]
) -> tuple[int, ...]:
    """Return the numbers of the hunks that an offer puts in; none if it does anything else.

    The text after the offer is then the text with the commit's own change put in: with a hunk, with
    adjacent hunks, or, where a hunk replaces lines by as many, with some of its lines. Blanks at
    the ends of lines are ignored. Where equal lines are next to an insertion it may be made at
    several lines, with one result: all are right.
    """
    plain = [line.rstrip() for line in lines]
    after = _replaced(plain, [(offer.first_line, offer.end_line, lines_of(offer.text))])
    if after == plain:
        return ()
    others = (((hunk.number,), [_whole(hunk)]) for hunk in hunks)
    for numbers, changes in chain(_true_changes(touched(offer, hunks)), others):
        if after == _replaced(plain, changes):
            return numbers
    return ()


_Change = tuple[int, int, Sequence[str]]


def _true_changes(hunks: Sequence[OpenHunk]) -> Iterator[tuple[tuple[int, ...], Sequence[_Change]]]:
    """Yield every run of adjacent hunks, and every run of lines of a hunk, with its numbers."""
    for first, end in combinations(range(len(hunks) + 1), 2):
        run = hunks[first:end]
        numbers = tuple(hunk.number for hunk in run)
        yield numbers, [_whole(hunk) for hunk in run]
    for hunk in hunks:
        num_lines = hunk.end - hunk.start
        if num_lines == len(hunk.new_lines):
            for first, end in combinations(range(num_lines + 1), 2):
                part = (hunk.start + first, hunk.start + end, hunk.new_lines[first:end])
                yield (hunk.number,), [part]


def _whole(hunk: OpenHunk) -> _Change:
    return hunk.start, hunk.end, hunk.new_lines


def _replaced(lines: Sequence[str], changes: Sequence[_Change]) -> list[str]:
    """Return the lines with changes put in, those without blanks at the ends of lines."""
    after = [*lines]
    for start, end, new_lines in reversed(changes):
        after[start:end] = [line.rstrip() for line in new_lines]
    return after


def _is_at(offer: Replacement, hunk: OpenHunk) -> bool:
    if offer.num_lines == 0 or hunk.start == hunk.end:
        return offer.first_line <= hunk.end and hunk.start <= offer.end_line
    return offer.first_line < hunk.end and hunk.start < offer.end_line
