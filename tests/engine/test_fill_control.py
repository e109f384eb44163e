"""The deadline of a fill ends the reading of its context, unless it had passed before."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from intarsia.engine import fill_control
from intarsia.engine.errors import Cancelled, DeadlinePassed
from intarsia.engine.fill_control import FillControl

SetClock = Callable[[float], None]


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    now = [0.0]
    monkeypatch.setattr(fill_control, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def set_to(seconds: float) -> None:
        now[0] = seconds

    return set_to


def test_reading_ends_at_the_deadline(set_clock: SetClock) -> None:
    control = FillControl(received_at=0.0, deadline=5.0).until_deadline()
    set_clock(4.9)
    control.checkpoint()
    set_clock(5.0)
    with pytest.raises(DeadlinePassed):
        control.checkpoint()


def test_a_fill_that_is_late_from_the_start_reads_on(set_clock: SetClock) -> None:
    set_clock(6.0)
    FillControl(received_at=0.0, deadline=5.0).until_deadline().checkpoint()


def test_a_cancel_counts_before_the_deadline(set_clock: SetClock) -> None:
    def cancel() -> None:
        raise Cancelled

    control = FillControl(received_at=0.0, deadline=5.0, checkpoint=cancel).until_deadline()
    set_clock(6.0)
    with pytest.raises(Cancelled):
        control.checkpoint()


def test_a_fill_without_a_deadline_reads_on() -> None:
    control = FillControl()
    assert control.until_deadline() is control
