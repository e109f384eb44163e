"""How unsure a server was at a token's place, of the likely tokens that it reported."""

import math
from collections.abc import Sequence


def entropy_of(log_ps: Sequence[float]) -> float:
    """Return the entropy in nats of tokens with these log-probabilities, and of the rest as one."""
    likely = [min(log_p, 0.0) for log_p in log_ps]
    rest = 1.0 - math.fsum(map(math.exp, likely))
    known = -math.fsum(math.exp(log_p) * log_p for log_p in likely)
    return known - (rest * math.log(rest) if likely and rest > 1e-6 else 0.0)
