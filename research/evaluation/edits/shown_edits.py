"""Selects the cases that a page shows: wrong and false offers, edits without one, right ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from intarsia_research.evaluation.edits.edit_record import EditRow, JudgedPlace
from intarsia_research.evaluation.edits.finder import LEVELS

MAX_CASES = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownHunk:
    """A change of the commit, as text."""

    old_text: str
    new_text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownEdit:
    """One case: the user's edit, the place that was found first, and the commit's change there.

    Without an offer, the place is the first-ranked one, if there is any. ``truth`` is empty for a
    control. ``num_right``: offers in turn that were right.
    """

    row: EditRow
    edit: ShownHunk
    place: JudgedPlace | None
    truth: tuple[ShownHunk, ...]
    num_right: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EditGallery:
    """Cases of one sort."""

    title: str
    num_all: int
    cases: tuple[ShownEdit, ...]


def edit_galleries(rows: Sequence[EditRow]) -> list[EditGallery]:
    """Return the cases by sort, at most MAX_CASES of each; the largest gains first."""
    sorts: tuple[tuple[str, Callable[[EditRow], bool]], ...] = (
        ("wrong offers after edits", lambda row: row.is_counted_edit and _is_right(row) is False),
        ("offers after controls: all are false", lambda row: row.is_control and _offers(row)),
        ("edits without an offer", lambda row: row.is_counted_edit and not _offers(row)),
        ("right offers", lambda row: row.is_counted_edit and _is_right(row) is True),
    )
    galleries = []
    for title, is_of in sorts:
        found = sorted(filter(is_of, rows), key=lambda row: -_excess(row))
        shown = tuple(map(_shown, found[:MAX_CASES]))
        galleries.append(EditGallery(title=title, num_all=len(found), cases=shown))
    return galleries


def _shown(row: EditRow) -> ShownEdit:
    place = row.first.offer(LEVELS[-1]) or next(iter(row.first.places), None)
    at_place = place.hunks if place else ()
    return ShownEdit(
        row=row,
        edit=_hunk(row, row.user_hunk),
        place=place,
        truth=tuple(_hunk(row, number) for number in at_place or row.first.in_window[:1]),
        num_right=sum(bool(_right_offer(row, number)) for number in range(len(row.steps))),
    )


def _hunk(row: EditRow, number: int) -> ShownHunk:
    hunk = row.hunks[number]
    return ShownHunk(old_text=hunk.old_text, new_text=hunk.new_text)


def _right_offer(row: EditRow, step: int) -> bool:
    offer = row.steps[step].offer(LEVELS[-1])
    return offer is not None and offer.is_exact


def _offers(row: EditRow) -> bool:
    return row.first.offer(LEVELS[-1]) is not None


def _is_right(row: EditRow) -> bool | None:
    """Whether the first offer of a case is exact, None without one."""
    offer = row.first.offer(LEVELS[-1])
    return None if offer is None else offer.is_exact


def _excess(row: EditRow) -> float:
    """Return the double difference of the first place."""
    return next((place.gain - place.gain_before for place in row.first.places), 0.0)
