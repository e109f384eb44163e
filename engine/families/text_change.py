"""Finds where two rows of ids part and meet again: what lies between is scored to compare them."""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.families.protocol import common_prefix_length

MAX_TEXTS = 256

_NUM_AFTER = 24
"""Ids that are scored after both meet again, about two lines: a good beginning is not enough."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """The ids from ``start`` to ``end`` of the present text become ``new``."""

    start: int
    end: int
    new: Sequence[int]


def change_of(present: Sequence[int], ids: Sequence[int]) -> Change:
    """Return the change from the present ids to others, up to some after both meet again."""
    start = common_prefix_length(present, ids)
    most = min(len(present), len(ids)) - start
    num_equal = common_prefix_length(present[::-1][:most], ids[::-1][:most])
    num_left = max(0, num_equal - _NUM_AFTER)
    return Change(start=start, end=len(present) - num_left, new=ids[start : len(ids) - num_left])
