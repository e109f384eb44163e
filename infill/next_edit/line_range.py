"""A range of whole lines of a text, counted from 0."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class LineRange:
    """Lines of a text from ``start`` to ``end``, which is exclusive. An insertion has none."""

    start: int
    end: int

    def touches(self, other: "LineRange") -> bool:
        """Whether both have a line in common; an insertion has the line that it is made before."""
        return self.start < max(other.end, other.start + 1) and other.start < max(
            self.end, self.start + 1
        )
