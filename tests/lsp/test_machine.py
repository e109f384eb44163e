"""The state of the computer is read seldom; one that does not tell is on mains."""

from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest

from intarsia.lsp.manners import SLOWNESS, LastKnown, Strain, runs_on_battery
from intarsia.lsp.settings import Settings, UnderStrain


def test_it_is_read_again_only_after_a_while() -> None:
    now, reads = [0.0], iter([True, False])
    is_on_battery = LastKnown(lambda: next(reads), 30, clock=lambda: now[0])
    assert is_on_battery()
    now[0] = 29.0
    assert is_on_battery()
    now[0] = 30.0
    assert not is_on_battery()


@pytest.mark.parametrize(
    ("read", "is_on_battery"),
    [
        (lambda: None, False),
        (lambda: SimpleNamespace(power_plugged=True), False),
        (lambda: SimpleNamespace(power_plugged=None), False),
        (lambda: SimpleNamespace(power_plugged=False), True),
        (Mock(side_effect=OSError("no such file")), False),
    ],
)
def test_what_the_system_says(read, is_on_battery, monkeypatch):
    monkeypatch.setattr(psutil, "sensors_battery", read, raising=False)
    assert runs_on_battery() is is_on_battery


def test_a_system_without_batteries_is_on_mains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(psutil, "sensors_battery", raising=False)
    assert not runs_on_battery()


def strain(*, battery: bool = False, load: float = 0.0) -> Strain:
    return Strain(lambda: battery, lambda: load)


def test_with_power_and_time_to_spare_nothing_changes() -> None:
    settings = Settings(on_battery="off", when_busy="off")
    assert strain(load=1.5).silence(settings) is None
    assert strain(load=1.5).slowness(Settings()) == 1


@pytest.mark.parametrize(("battery", "load", "kind"), [(True, 0, "battery"), (False, 9, "busy")])
@pytest.mark.parametrize("wanted", ["same", "slower", "off"])
def test_the_settings_decide(battery: bool, load: float, kind: str, wanted: UnderStrain) -> None:
    found = strain(battery=battery, load=load)
    settings = Settings(on_battery=wanted, when_busy=wanted)
    silence = found.silence(settings)
    assert (silence.kind if silence else None) == (kind if wanted == "off" else None)
    assert found.slowness(settings) == (SLOWNESS if wanted == "slower" else 1)
