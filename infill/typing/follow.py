"""Follows a suggestion on show through changes: how much of it is in the document now.

It is the same in every editor, whether a key accepts all of it, a word or a line, or it is typed.
"""

from dataclasses import dataclass, replace

from intarsia.infill.typing.change import TextChange

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
        """What is not in the document yet."""
        return self.text[self.num_in :]

    @property
    def is_whole(self) -> bool:
        """Whether all of the text is in the document."""
        return self.num_in == len(self.text)

    def after(self, change: TextChange, old: str, new: str) -> "Followed | None":
        """Return how it is after a change; None where the document has become another one."""
        num_in = self.num_in + change.growth
        if not 0 <= num_in <= len(self.text) or self._is_far(change):
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
        return self.is_whole or not _is_within_word(self.text, self.num_in)

    def _is_far(self, change: TextChange) -> bool:
        return (
            change.start > self.cursor + MAX_DISTANCE or change.old_end < self.start - MAX_DISTANCE
        )


def _is_within_word(text: str, at: int) -> bool:
    return all(it.isalnum() or it == "_" for it in text[at - 1 : at + 1])
