"""A level or a percentage, as editors send it."""

import pytest

from intarsia.infill.calibration.threshold import IMPROBABLE, LEVELS, improbable, percent_of


def test_the_levels_ask_for_more_one_after_the_other() -> None:
    assert list(LEVELS) == ["eager", "balanced", "subtle"]
    assert 0 < LEVELS["eager"] < LEVELS["balanced"] < LEVELS["subtle"] < 100


@pytest.mark.parametrize(
    ("threshold", "percent"), [("0", 0), ("7", 7), (45, 45), ("100", 100), (100, 100)]
)
def test_a_percentage_is_itself(threshold: str | int, percent: int) -> None:
    assert percent_of(threshold) == percent


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_stands_for_a_percentage(level: str) -> None:
    assert percent_of(level) in LEVELS.values()


@pytest.mark.parametrize("threshold", ["", "bold", "101", -1, 101, "07", "5.5", "50 %", "50\n"])
def test_nothing_else_is_a_threshold(threshold: str | int) -> None:
    with pytest.raises(ValueError, match="neither"):
        percent_of(threshold)


def test_the_reason_tells_both_percentages_and_is_counted() -> None:
    refusal = improbable(0.234, 40)
    assert "23 %" in refusal.reason
    assert "40 %" in refusal.reason
    assert refusal.kind == IMPROBABLE
