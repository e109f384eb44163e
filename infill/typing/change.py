"""A change of a text: the range that was replaced, and what the change did to text near it."""

from dataclasses import dataclass

from intarsia.infill.syntax.difference import replaced_range


@dataclass(frozen=True, kw_only=True, slots=True)
class TextChange:
    """At ``start``, the text ``removed`` was replaced by ``inserted``; they share no edge.

    ``num_places``: how many ranges the editor changed at once. With several, ``removed`` and
    ``inserted`` contain what is between the first and the last. ``is_alike``: a key typed the same
    in each.
    """

    start: int
    removed: str
    inserted: str
    num_places: int = 1
    is_alike: bool = True

    @property
    def old_end(self) -> int:
        """Where the replaced range ends in the old text."""
        return self.start + len(self.removed)

    @property
    def new_end(self) -> int:
        """Where the inserted text ends in the new text."""
        return self.start + len(self.inserted)

    @property
    def growth(self) -> int:
        """By how many characters the text is longer."""
        return len(self.inserted) - len(self.removed)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return not (self.removed or self.inserted)


def trimmed_change(start: int, removed: str, inserted: str) -> TextChange:
    """Return the change without what both texts begin or end with."""
    first, old_end, new_end = replaced_range(removed, inserted)
    return TextChange(
        start=start + first, removed=removed[first:old_end], inserted=inserted[first:new_end]
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class TextRange:
    """A part of a text, which later changes move."""

    start: int
    end: int

    def after(self, change: TextChange) -> "TextRange":
        """Return the range after a change. Text that is inserted at its edges is not in it."""
        return TextRange(
            start=_moved(self.start, change, sticks_to_end=True),
            end=max(
                _moved(self.start, change, sticks_to_end=True),
                _moved(self.end, change, sticks_to_end=False),
            ),
        )


def _moved(offset: int, change: TextChange, *, sticks_to_end: bool) -> int:
    """Return where an offset is after a change; one in the replaced range goes to an edge."""
    if offset < change.start or (offset == change.start and not sticks_to_end):
        return offset
    if offset >= change.old_end:
        return offset + change.growth
    return change.start if sticks_to_end else change.new_end
