"""How much code of other files a machine may read before a hole, from how quickly it reads."""

READING_S = 0.9
"""Reading all code of other files takes at most about this long, in idle time."""

LEAST_TOKENS, MOST_TOKENS = 150, 4_000
UNKNOWN_TOKENS = 500
"""The budget until a speed has been measured: what two cores read in about a second."""


def context_budget(tokens_per_s: float | None) -> int:
    """Return the number of tokens of other files to read; ``tokens_per_s`` None is unknown."""
    if tokens_per_s is None:
        return UNKNOWN_TOKENS
    return int(min(max(tokens_per_s * READING_S, LEAST_TOKENS), MOST_TOKENS))
