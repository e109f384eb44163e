"""Tells undo and redo: the text is one that was there before.

A text's digest is the sum of its lines' hashes, so that a change costs its own lines only. It is
counted from the text that was first seen: the digest of that is 0.
"""

from collections import deque

from intarsia.infill.typing.change import TextChange

MAX_REMEMBERED = 100
"""Texts of the last changes."""

_PAIRS = frozenset({"()", "[]", "{}", "<>", '""', "''", "``"})


class RecentTexts:
    """The digests of a document's last texts."""

    def __init__(self) -> None:
        self._current = 0
        self._recent = deque([0], maxlen=MAX_REMEMBERED)

    def is_restored(self, old: str, change: TextChange, new: str) -> bool:
        """Take a change; return whether the new text was there before."""
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
