"""The difference between two versions of a text, as one replaced range."""

from collections.abc import Callable


def replaced_range(old: str, new: str) -> tuple[int, int, int]:
    """Return start, end in ``old``, and end in ``new`` of the range that was replaced."""
    num_old, num_new = len(old), len(new)
    most = min(num_old, num_new)
    start = _num_alike(most, lambda low, high: old[low:high] == new[low:high])
    tail = _num_alike(
        most - start,
        lambda low, high: (
            old[num_old - high : num_old - low] == new[num_new - high : num_new - low]
        ),
    )
    return start, num_old - tail, num_new - tail


def _num_alike(most: int, is_same: Callable[[int, int], bool]) -> int:
    """Count the characters that are the same, by bisection: comparing slices is fast."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        if is_same(low, middle):
            low = middle
        else:
            most = middle - 1
    return low
