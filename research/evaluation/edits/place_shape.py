"""What sort of change a case asks for at its first place: a line, an insertion, an import."""

from typing import Literal, TypeAlias, get_args

from intarsia_research.edits.edit_case import CommitHunk
from intarsia_research.edits.imports import are_imports
from intarsia_research.evaluation.edits.edit_record import EditRow

PlaceShape: TypeAlias = Literal["one line", "several lines", "insertion", "removal", "import"]
SHAPES: tuple[PlaceShape, ...] = get_args(PlaceShape)


def place_shape(row: EditRow) -> PlaceShape:
    """Return the shape of the hunk at the first-ranked line; else of the nearest in the window."""
    in_window = sorted(row.first.in_window, key=lambda number: abs(number - row.user_hunk))
    return hunk_shape(row.hunks[[*row.first.line_hunks, *in_window][0]])


def hunk_shape(hunk: CommitHunk) -> PlaceShape:
    """Return the shape of a hunk, the first that fits."""
    if are_imports(hunk.old_text + hunk.new_text):
        return "import"
    if not hunk.old_text:
        return "insertion"
    if not hunk.new_text:
        return "removal"
    is_one_line = hunk.end - hunk.start == 1 == hunk.new_text.count("\n")
    return "one line" if is_one_line else "several lines"
