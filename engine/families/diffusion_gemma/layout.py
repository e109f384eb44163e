"""Lay out one hole as canvases: given text, free positions and the head of the suffix.

Sizes are shares of the model's own canvas: of 256 tokens, 64 may show the suffix and 32 the given
text, and lengths are multiples of 32. Works on ids. Knows no text and draws no noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Ids: TypeAlias = Sequence[int]


@dataclass(frozen=True, kw_only=True, slots=True)
class CanvasSizes:
    """How a canvas of this length is divided."""

    canvas_length: int

    def __post_init__(self) -> None:
        if self.canvas_length < 1:
            raise ValueError(f"canvas length must be 1 or more, got {self.canvas_length}")

    @property
    def bucket(self) -> int:
        """Canvas lengths are multiples of this, so that few shapes occur."""
        return max(self.canvas_length // 8, 1)

    @property
    def max_given(self) -> int:
        """Tokens of given text that a canvas shows; the rest belongs to the context."""
        return self.canvas_length // 8

    @property
    def max_suffix(self) -> int:
        """Tokens of the suffix that a canvas shows."""
        return self.canvas_length // 4

    def rounded_up(self, length: int) -> int:
        """Return the shortest canvas length of at least ``length``."""
        return min(-(-length // self.bucket) * self.bucket, self.canvas_length)

    def rounded_down(self, length: int) -> int:
        """Return the longest canvas length of at most ``length``."""
        if length >= self.canvas_length:
            return self.canvas_length
        return length // self.bucket * self.bucket


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleLayout:
    """One canvas: ``ids[start:end]`` are the hole's; None is a position that the model writes."""

    ids: tuple[int | None, ...]
    start: int
    end: int

    def beginning_with(self, first_id: int) -> "HoleLayout":
        """Return the same canvas with the hole's first token given."""
        ids = (*self.ids[: self.start], first_id, *self.ids[self.start + 1 :])
        return HoleLayout(ids=ids, start=self.start, end=self.end)

    def starting_with(self, draft: Sequence[int | None]) -> tuple[int | None, ...]:
        """Return the ids that the canvas begins with: the draft in the hole, None elsewhere."""
        hole = tuple(draft[: self.end - self.start])
        num_after = len(self.ids) - self.start - len(hole)
        return (*[None] * self.start, *hole, *[None] * num_after)


def lay_out(
    given: Ids, num_free: int, suffix: Ids, *, sizes: CanvasSizes, end_id: int, pad_id: int
) -> tuple[HoleLayout, ...]:
    """Return the canvases of one hole; only the last one shows the suffix, or else is free."""
    canvases = []
    num_shown = min(len(suffix), sizes.max_suffix)
    while len(given) + num_free + num_shown > sizes.canvas_length:
        # the last canvas keeps some free positions, so that the hole can meet the suffix
        length = sizes.rounded_down(len(given) + num_free - (sizes.bucket if suffix else 0))
        num_taken = length - len(given)
        canvases.append(_canvas(given, num_taken, ()))
        given, num_free = (), num_free - num_taken
    if num_free > 0:
        if suffix:
            last = _last_before_suffix(given, num_free, suffix, sizes, end_id, pad_id)
        else:
            last = _canvas(given, sizes.rounded_up(len(given) + num_free) - len(given), ())
        canvases.append(last)
    return tuple(canvases)


def _last_before_suffix(
    given: Ids, num_free: int, suffix: Ids, sizes: CanvasSizes, end_id: int, pad_id: int
) -> HoleLayout:
    length = sizes.rounded_down(len(given) + num_free + sizes.max_suffix)
    num_shown = length - len(given) - num_free
    if len(suffix) >= num_shown:
        return _canvas(given, num_free, suffix[:num_shown])
    # the whole text ends within the canvas, and is shown as the model knows a text's end
    length = sizes.rounded_up(len(given) + num_free + len(suffix) + 1)
    num_pads = max(length - len(given) - num_free - len(suffix) - 1, 0)
    return _canvas(given, num_free, (*suffix, end_id, *[pad_id] * num_pads))


def _canvas(given: Sequence[int], num_free: int, tail: Sequence[int]) -> HoleLayout:
    return HoleLayout(
        ids=(*given, *[None] * num_free, *tail), start=len(given), end=len(given) + num_free
    )
