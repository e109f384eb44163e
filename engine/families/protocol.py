"""Values common to the model families: about a fill, and how quickly a model reads."""

import itertools
import operator
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

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


class Stopwatch:
    """Seconds of computing, without the time between two laps."""

    def __init__(self, synchronize: Callable[[], None]) -> None:
        """``synchronize`` waits until a GPU has computed what was queued."""
        self._synchronize = synchronize
        self.seconds = 0.0

    @contextmanager
    def lap(self) -> Iterator[None]:
        """Add the time of a block."""
        started_at = time.perf_counter()
        yield
        self._synchronize()
        self.seconds += time.perf_counter() - started_at


_MIN_TOKENS = 64  # a shorter prefill says more about the cost of a pass than about its tokens
_NUM_REMEMBERED = 9  # prefills: one that ran beside a compiler does not count for long

IF_CACHED_MS = 60.0
"""A fill may spend this long reading code of other files that was not read in idle time."""

_UNKNOWN_TOKENS_PER_S = 500.0


NumMissing: TypeAlias = Callable[[Sequence[int]], int]
"""Returns how many tokens of a context would have to be read."""


class ReadingSpeed:
    """Collects the times of prefills."""

    def __init__(self) -> None:
        self._measured: deque[float] = deque(maxlen=_NUM_REMEMBERED)

    @property
    def tokens_per_s(self) -> float | None:
        """The median tokens per second, None before the first prefill of 64 tokens."""
        return float(np.median(self._measured)) if self._measured else None

    def add(self, num_tokens: int, seconds: float) -> None:
        """Record a prefill, without the time for which it was suspended."""
        if num_tokens >= _MIN_TOKENS and seconds > 0:
            self._measured.append(num_tokens / seconds)

    def is_worth_reading(self, num_missing: int, num_missing_without: int) -> bool:
        """Return whether a fill may use a context with code of other files at once.

        ``num_missing`` are its tokens that are not in the KV cache; ``num_missing_without`` are
        those of the file's own window.
        """
        tokens_per_s = self.tokens_per_s or _UNKNOWN_TOKENS_PER_S
        return num_missing <= num_missing_without + tokens_per_s * IF_CACHED_MS / 1000
