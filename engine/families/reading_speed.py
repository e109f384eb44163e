"""How quickly a loaded model reads context here: the median over the last long prefills."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a remote engine's speed is measured without torch
    import torch

_MIN_TOKENS = 64  # a shorter prefill says more about the cost of a pass than about its tokens
_NUM_REMEMBERED = 9  # prefills: one that ran beside a compiler does not count for long

IF_CACHED_MS = 60.0
"""A fill may spend this long on reading code of other files that was not read in idle time."""

_UNKNOWN_TOKENS_PER_S = 500.0


class ReadingSpeed:
    """Collects the times of prefills."""

    def __init__(self) -> None:
        self._measured: deque[float] = deque(maxlen=_NUM_REMEMBERED)

    @property
    def tokens_per_s(self) -> float | None:
        """The median tokens per second, None before the first prefill of 64 tokens."""
        return median(self._measured) if self._measured else None

    def add(self, num_tokens: int, seconds: float) -> None:
        """Note a prefill, without the time for which it was suspended."""
        if num_tokens >= _MIN_TOKENS and seconds > 0:
            self._measured.append(num_tokens / seconds)

    def is_worth_reading(self, num_missing: int, num_missing_without: int) -> bool:
        """Tell whether a fill may use a context with code of other files at once.

        ``num_missing`` are its tokens that are not in the KV cache; ``num_missing_without`` are
        those of the file's own window.
        """
        tokens_per_s = self.tokens_per_s or _UNKNOWN_TOKENS_PER_S
        return num_missing <= num_missing_without + tokens_per_s * IF_CACHED_MS / 1000


class Stopwatch:
    """Seconds of computing on a device, without the time between two laps."""

    def __init__(self, device: "torch.device") -> None:
        self._device = device
        self.seconds = 0.0

    @contextmanager
    def lap(self) -> Iterator[None]:
        """Add the time of a block; a GPU's own queue has ended by then."""
        started_at = time.perf_counter()
        yield
        _synchronize(self._device)
        self.seconds += time.perf_counter() - started_at


def _synchronize(device: "torch.device") -> None:
    """Wait until the queue of a GPU has ended; a CPU has none."""
    if device.type == "cpu":
        return
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
