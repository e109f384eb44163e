"""The source of power is read seldom, and a computer that does not tell is on mains."""

from collections.abc import Callable
from types import SimpleNamespace

import psutil
import pytest

from intarsia.lsp.suggestions.power import READ_EVERY_S, Power, runs_on_battery


def test_it_is_read_again_only_after_a_while() -> None:
    now, reads = [0.0], iter([True, False])
    power = Power(read=lambda: next(reads), clock=lambda: now[0])
    assert power.is_on_battery()
    now[0] = READ_EVERY_S - 1
    assert power.is_on_battery()
    now[0] = READ_EVERY_S
    assert not power.is_on_battery()


def fails() -> None:
    raise OSError("no such file")


@pytest.mark.parametrize(
    ("read", "is_on_battery"),
    [
        (lambda: None, False),
        (lambda: SimpleNamespace(power_plugged=True), False),
        (lambda: SimpleNamespace(power_plugged=None), False),
        (lambda: SimpleNamespace(power_plugged=False), True),
        (fails, False),
    ],
)
def test_what_the_system_says(
    read: Callable[[], object], is_on_battery: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", read, raising=False)
    assert runs_on_battery() is is_on_battery


def test_a_system_without_batteries_is_on_mains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(psutil, "sensors_battery", raising=False)
    assert not runs_on_battery()
