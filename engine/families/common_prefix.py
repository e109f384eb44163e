"""How much of a context is already held: two rows of token ids come in, a length goes out."""

from collections.abc import Sequence


def common_prefix_length(held: Sequence[int], wanted: Sequence[int]) -> int:
    """Return how many leading ids two rows share."""
    pairs = zip(held, wanted, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(held), len(wanted)))
