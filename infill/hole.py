"""What to fill: the hole at a cursor or in a given range."""

from dataclasses import dataclass
from typing import Literal

HoleKind = Literal["line", "block", "span"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hole:
    """A stretch of text to be replaced by a fill.

    ``text[start:end]`` is replaced. ``line``: the rest of one line; ``block``: the body that a header
    has just opened; ``span``: a range named by the user, of unknown length when it is empty.
    ``given_start`` ≤ ``start``: ``text[given_start:start]`` is already typed and stays (a half word, the
    blank before it), but the model reads it as the beginning of its own fill, so that no token is cut.
    """

    start: int
    end: int
    kind: HoleKind
    given_start: int
    max_lines: int

    def __post_init__(self) -> None:
        if not 0 <= self.given_start <= self.start <= self.end:
            raise ValueError(f"hole out of order: {self.given_start=} {self.start=} {self.end=}")
