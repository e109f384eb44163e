"""Reads a change of a text: its range, its kind, and whether it goes on with a suggestion.

An editor inserts more than a key's character, too: indentation, the mark that continues a comment,
a closing bracket or word, a name from a menu. All of these are short; a paste is not.
"""

from collections import deque
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from intarsia.infill.syntax.text import line_start, replaced_range


@dataclass(frozen=True, kw_only=True, slots=True)
class TextChange:
    """At ``start``, the text ``removed`` was replaced by ``inserted``; they share no edge.

    ``texts``: where the editor changed several places at once, what it inserted in each. Then
    ``removed`` and ``inserted`` contain what is between the first and the last.
    """

    start: int
    removed: str
    inserted: str
    texts: tuple[str, ...] = ()

    @property
    def at_each_place(self) -> tuple[str, ...]:
        return self.texts or (self.inserted,)

    @property
    def is_alike(self) -> bool:
        """Whether a key typed the same in each place."""
        return len(set(self.at_each_place)) == 1 and is_of_a_key(self.at_each_place[0])

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
        """How many characters longer the text is."""
        return len(self.inserted) - len(self.removed)

    @property
    def is_empty(self) -> bool:
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


def is_deletion(change: TextChange) -> bool:
    """Whether a change only takes text away."""
    return bool(change.removed) and not any(change.at_each_place)


def is_dedent(change: TextChange, old: str) -> bool:
    """Whether a change only takes indentation from the start of a line.

    Who steps out of a block goes on writing there.
    """
    if not is_deletion(change) or change.removed.strip(" \t"):
        return False
    return not old[line_start(old, change.start) : change.start].strip(" \t")


LONGEST_TYPED = 40
"""Characters of one line that a key or a menu inserts at most."""

LONGEST_TYPED_AROUND_LINE_END = 8
"""The same without blanks, where a line end is among them: ``end``, ``*/``, ``});``."""


def is_paste(change: TextChange) -> bool:
    """Whether a change inserts more in some place than a key or an editor's menu does."""
    if not change.texts:
        return _is_pasted(change.inserted)
    return any(_is_pasted(text.strip()) for text in change.texts)  # a whole line is an import


def _is_pasted(text: str) -> bool:
    if "\n" in text or "\r" in text:
        return len("".join(text.split())) > LONGEST_TYPED_AROUND_LINE_END
    return len(text.strip()) > LONGEST_TYPED


MAX_REMEMBERED = 100
"""How many texts of the last changes are kept."""

_PAIRS = frozenset({"()", "[]", "{}", "<>", '""', "''", "``"})


class RecentTexts:
    """The digests of a document's last texts."""

    def __init__(self) -> None:
        self._current = 0
        self._recent = deque([0], maxlen=MAX_REMEMBERED)

    def is_restored(self, old: str, change: TextChange, new: str) -> bool:
        """Record a change; return whether the new text was there before."""
        self._current += digest_change(old, change, new)
        is_known = self._current in self._recent
        self._recent.append(self._current)
        return is_known


def digest_change(old: str, change: TextChange, new: str) -> int:
    """Return by how much the digest of the new text differs from that of the old one."""
    start = old.rfind("\n", 0, change.start) + 1
    before = old[start : _line_end(old, change.old_end)]
    after = new[start : _line_end(new, change.new_end)]
    return _sum_of_lines(after) - _sum_of_lines(before)


def is_of_a_key(text: str) -> bool:
    """Whether one key inserts or deletes this: a character, white space, a pair of brackets."""
    return len(text) <= 1 or not text.strip() or text in _PAIRS


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


def _sum_of_lines(text: str) -> int:
    lines = text.split("\n")
    return sum(map(hash, lines)) + len(lines)  # the hash of an empty line is 0


ChangeKind: TypeAlias = Literal["typed", "deleted", "undone", "pasted", "several", "blank"]
"""``several``: of several places at once, as a formatter or Replace All makes it. ``blank``: only
white space, which says nothing of what the user does."""

MOST_TYPED_PLACES = 2
"""A key changes a tag and its partner; a menu inserts a name and its import."""


def kind_of(change: TextChange, old: str, *, is_restored: bool) -> ChangeKind:
    """Return the kind of a change of ``old``. ``is_restored``: the new text was there before."""
    if is_dedent(change, old):
        return "blank"
    is_of_keys = all(map(is_of_a_key, change.at_each_place))
    if is_restored and not (is_of_keys and (change.texts or is_of_a_key(change.removed))):
        return "undone"
    is_blank = change.removed.split() == change.inserted.split()
    if len(change.texts) > MOST_TYPED_PLACES and not change.is_alike:
        return "blank" if is_blank else "several"
    if change.texts and is_blank and is_deletion(change):
        return "blank"
    if is_deletion(change):
        return "deleted"
    return "pasted" if is_paste(change) else "typed"


MAX_DISTANCE = 1_000
"""A change farther away, in characters, has nothing to do with the suggestion."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Followed:
    """``text`` was suggested at ``start``; its first ``num_in`` characters are in the document."""

    start: int
    text: str
    num_in: int = 0

    @property
    def cursor(self) -> int:
        """Where the rest would go."""
        return self.start + self.num_in

    @property
    def rest(self) -> str:
        """The part that is not in the document yet."""
        return self.text[self.num_in :]

    @property
    def is_whole(self) -> bool:
        """Whether all of the text is in the document."""
        return self.num_in == len(self.text)

    def after(self, change: TextChange, old: str, new: str) -> "Followed | None":
        """Return how it is after a change; None where the document has become another one."""
        num_in = self.num_in + change.growth
        nearest, farthest = self.start - MAX_DISTANCE, self.cursor + MAX_DISTANCE
        is_far = change.start > farthest or change.old_end < nearest
        if not 0 <= num_in <= len(self.text) or is_far:
            return None
        first, old_end = min(self.start, change.start), max(self.cursor, change.old_end)
        goes_on = old[first : self.start] + self.text[:num_in] + old[self.cursor : old_end]
        is_same = new[first : old_end + change.growth] == goes_on
        return replace(self, num_in=num_in) if is_same else None

    def is_step(self, before: "Followed") -> bool:
        """Whether a key accepted a part since ``before``, or all of it is in the document.

        Typing comes by the character. Several at once that end with a word were accepted.
        """
        if self.num_in - before.num_in < 2:
            return self.is_whole and self.num_in > before.num_in
        around = self.text[self.num_in - 1 : self.num_in + 1]
        return self.is_whole or not all(it.isalnum() or it == "_" for it in around)
