"""Ratios of pairs: their geometric mean, and whether two wrote the same."""

import pytest

from intarsia_research.benchmark.side_by_side_figures import TimedPair, is_same_line, mean_ratio


def pair(ms: float, other_ms: float, group: str = "a") -> TimedPair:
    return TimedPair(group=group, ms=ms, other_ms=other_ms, is_same_text=True)


def test_twice_as_long_and_half_as_long_are_as_long():
    found = mean_ratio([pair(200, 100, "a"), pair(50, 100, "b")])
    assert found is not None
    assert found.value == pytest.approx(1.0)
    assert found.low == pytest.approx(0.5)
    assert found.high == pytest.approx(2.0)
    assert found.of == 2


def test_pairs_that_agree_leave_no_doubt():
    found = mean_ratio([pair(ms, 4 * ms, str(ms)) for ms in (100, 300, 1000)])
    assert found is not None
    assert (found.low, found.value, found.high) == pytest.approx((0.25, 0.25, 0.25))


def test_no_pair_has_no_ratio():
    assert mean_ratio([]) is None


@pytest.mark.parametrize(
    ("text", "other", "is_same"),
    [
        ("return a", "return a  ", True),
        ("return a", "return a\nreturn b", True),
        ("return a", " return a", False),
        ("return a", "return b", False),
        ("", "\nreturn", True),
    ],
)
def test_texts_are_compared_by_their_first_line(text: str, other: str, is_same: bool):
    assert is_same_line(text, other) is is_same
