"""The deadline of a fill ends the reading of its context, unless it had passed before."""

from types import SimpleNamespace

import pytest

from intarsia.engine import fill_control
from intarsia.engine.errors import Cancelled, DeadlinePassed
from intarsia.engine.fill_control import FillControl


def test_reading_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(fill_control, "time", SimpleNamespace(monotonic=lambda: now))

    def cancel() -> None:
        raise Cancelled

    in_time = FillControl(received_at=0.0, deadline=5.0).until_deadline()
    cancelled = FillControl(received_at=0.0, deadline=5.0, checkpoint=cancel).until_deadline()
    now = 4.9
    in_time.checkpoint()
    now = 5.0
    with pytest.raises(DeadlinePassed):
        in_time.checkpoint()
    with pytest.raises(Cancelled):
        cancelled.checkpoint()
    late_from_the_start = FillControl(received_at=0.0, deadline=5.0).until_deadline()
    late_from_the_start.checkpoint()
    without = FillControl()
    assert without.until_deadline() is without
