"""What the user edited last in other files, as it is now.

A change often continues in the next file: a new function is called, a new field is read. Editors'
own completions show recent edits for that reason. The index may not know them yet.
"""

from collections.abc import Iterator

from intarsia.workspace.context.candidate import Candidate, Surroundings
from intarsia.workspace.context.passage import split_lines, written_passage
from intarsia.workspace.context.place import RecentEdit

NUM_LINES_AROUND = 2
MAX_EDITS = 2


def recent_edits(around: Surroundings, max_chars: int) -> Iterator[Candidate]:
    """Yield the regions edited last, newest first, within the budget together."""
    num_found = 0
    for edit in around.place.recent_edits:
        text = _written(around, edit, max_chars)
        if text is None:
            continue
        yield Candidate(path=edit.path, text=text, kind="recent_edit", reason="edited just now")
        max_chars -= around.cost(edit.path, text)
        num_found += 1
        if num_found == MAX_EDITS:
            return


def _written(around: Surroundings, edit: RecentEdit, max_chars: int) -> str | None:
    if not around.may_show(edit.path):
        return None
    lines = split_lines(edit.text)
    first = max(0, edit.start_line - NUM_LINES_AROUND)
    room = max_chars - around.cost(edit.path, "")
    return written_passage(lines[first : edit.end_line + NUM_LINES_AROUND], around.known, room)
