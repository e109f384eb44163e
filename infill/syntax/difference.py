"""The difference between two versions of a text, as one replaced range."""


def replaced_range(old: str, new: str) -> tuple[int, int, int]:
    """Return start, end in ``old``, and end in ``new`` of the range that was replaced."""
    start = _num_common(old, new)
    tail = _num_common_at_end(old[start:], new[start:])
    return start, len(old) - tail, len(new) - tail


def _num_common(left: str, right: str) -> int:
    """Count the characters that both begin with, by bisection: comparing slices is fast."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _num_common_at_end(left: str, right: str) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if (
            left[len(left) - middle : len(left) - low]
            == right[len(right) - middle : len(right) - low]
        ):
            low = middle
        else:
            high = middle - 1
    return low
