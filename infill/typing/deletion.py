"""Tells a deletion: the user takes text away, and wants none in its place yet."""

from intarsia.infill.syntax.lines import line_start
from intarsia.infill.typing.change import TextChange


def is_deletion(change: TextChange) -> bool:
    """Whether a change only takes text away."""
    return bool(change.removed) and not change.inserted


def is_dedent(change: TextChange, old: str) -> bool:
    """Whether a change only takes indentation from the start of a line.

    Who steps out of a block goes on writing there.
    """
    if not is_deletion(change) or change.removed.strip(" \t"):
        return False
    return not old[line_start(old, change.start) : change.start].strip(" \t")
