"""What kind of change the user made, from its shape alone."""

from typing import Literal, TypeAlias

from intarsia.infill.typing.change import TextChange
from intarsia.infill.typing.deletion import is_dedent, is_deletion
from intarsia.infill.typing.paste import is_paste
from intarsia.infill.typing.restored import is_of_a_key

ChangeKind: TypeAlias = Literal["typed", "deleted", "undone", "pasted", "several", "blank"]
"""``several``: of several places at once, as a formatter or Replace All makes it. ``blank``: only
white space, which says nothing of what the user does."""

MOST_TYPED_PLACES = 2
"""A key changes a tag and its partner; a menu inserts a name and its import."""


def kind_of(change: TextChange, old: str, *, is_restored: bool) -> ChangeKind:
    """Return the kind of a change of ``old``. ``is_restored``: the new text was there before."""
    if is_dedent(change, old):
        return "blank"
    if is_restored and not (is_of_a_key(change.removed) and is_of_a_key(change.inserted)):
        return "undone"
    if change.num_places > MOST_TYPED_PLACES and not change.is_alike:
        return "blank" if _is_only_blank(change) else "several"
    if is_deletion(change):
        return "deleted"
    return "pasted" if is_paste(change) else "typed"


def _is_only_blank(change: TextChange) -> bool:
    """Whether both texts are the same but for white space."""
    return change.removed.split() == change.inserted.split()
