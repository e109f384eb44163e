"""The lengths that are tried for a hole, and how much of the suffix judges them.

``length.py`` judges with a model of this machine; a remote engine has its server do that. Imports
no torch.
"""

NUM_SCORED = 8
"""Suffix tokens that judge a length: farther ones depend little on the hole."""


def candidate_lengths(max_tokens: int) -> tuple[int, ...]:
    """Return lengths that double, from 4 up to ``max_tokens``."""
    lengths = []
    length = 4
    while length < max_tokens:
        lengths.append(length)
        length *= 2
    return (*lengths, max_tokens)
