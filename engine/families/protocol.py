"""What the model families share: small values about a fill. Knows no text."""

import itertools
import operator
import time
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.ipc.messages import Timing

_PIECE_IDS = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Prefilled:
    """How much of a context had to be computed."""

    num_reused: int  # tokens that were in a KV cache already
    num_computed: int


def common_prefix_length(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many leading ids two rows share."""
    # Prompts of some thousand ids are compared at each key: in pieces, as equal ones take no time.
    length = min(len(first), len(second))
    for start in range(0, length, _PIECE_IDS):
        end = min(start + _PIECE_IDS, length)
        one, other = first[start:end], second[start:end]
        if one == other:
            continue
        differences = itertools.compress(itertools.count(start), map(operator.ne, one, other))
        if (different := next(differences, end)) < end:  # else a list and a tuple of the same
            return different
    return length


def fill_timing(received_at: float, started_at: float, prefilled_at: float) -> Timing:
    """Return the timing of a fill that ends now (times of time.monotonic())."""
    ended_at = time.monotonic()
    return Timing(
        queue=1000 * (started_at - received_at),
        prefill=1000 * (prefilled_at - started_at),
        denoise=1000 * (ended_at - prefilled_at),
        total=1000 * (ended_at - received_at),
    )
