"""Tells a paste from typing: one insertion of several lines, or of a long text.

An editor inserts more than a key's character, too: indentation, the mark that continues a comment,
a closing bracket or word, a name from a menu. All of these are short.
"""

from intarsia.infill.typing.change import TextChange

LONGEST_TYPED = 40
"""Characters of one line that a key or a menu inserts at most."""

LONGEST_TYPED_AROUND_LINE_END = 8
"""The same without blanks, where a line end is among them: ``end``, ``*/``, ``});``."""


def is_paste(change: TextChange) -> bool:
    """Whether a change inserts more than a key or an editor's menu does."""
    text = change.inserted
    if "\n" in text or "\r" in text:
        return len("".join(text.split())) > LONGEST_TYPED_AROUND_LINE_END
    return len(text.strip()) > LONGEST_TYPED
