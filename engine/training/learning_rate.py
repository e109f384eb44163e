"""The learning rate over a run whose length is a budget of minutes or of tokens."""

import math

_WARM_UP_STEPS = 40
_FLOOR = 0.05


def learning_rate(peak: float, *, step: int, share_done: float) -> float:
    """Return the rate of a step: a short warm-up, then a cosine down to a twentieth."""
    warm = min(1.0, (step + 1) / _WARM_UP_STEPS)
    cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, max(0.0, share_done))))
    return peak * warm * (_FLOOR + (1 - _FLOOR) * cosine)
