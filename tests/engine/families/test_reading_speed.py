"""How quickly contexts are read, and whether a fill may read other files at once."""

import pytest
import torch

from intarsia.engine.families.reading_speed import ReadingSpeed, Stopwatch


def test_it_is_unknown_until_a_long_prefill() -> None:
    speed = ReadingSpeed()
    speed.add(63, 0.1)
    assert speed.tokens_per_s is None
    speed.add(64, 0.1)
    assert speed.tokens_per_s == pytest.approx(640)


def test_one_slow_prefill_changes_little() -> None:
    speed = ReadingSpeed()
    for seconds in (1.0, 1.1, 30.0, 0.9, 1.0):
        speed.add(1_000, seconds)
    assert speed.tokens_per_s == pytest.approx(1_000)


def test_a_machine_that_becomes_slower_is_noticed() -> None:
    speed = ReadingSpeed()
    for seconds in [1.0] * 50 + [2.0] * 5:
        speed.add(1_000, seconds)
    assert speed.tokens_per_s == pytest.approx(500)


@pytest.mark.parametrize(
    ("num_missing", "num_missing_without", "is_worth"),
    [(60, 0, True), (61, 0, False), (560, 500, True), (561, 500, False), (0, 0, True)],
)
def test_sixty_milliseconds_of_reading_may_be_added(
    num_missing: int, num_missing_without: int, is_worth: bool
) -> None:
    speed = ReadingSpeed()
    speed.add(1_000, 1.0)
    assert speed.is_worth_reading(num_missing, num_missing_without) == is_worth


def test_time_between_laps_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 1.0, 50.0, 52.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(now))
    watch = Stopwatch(torch.device("cpu"))
    for _ in range(2):
        with watch.lap():
            pass
    assert watch.seconds == 3.0
