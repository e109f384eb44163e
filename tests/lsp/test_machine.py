"""The source of power is read seldom, and a computer that does not tell is on mains."""

from collections.abc import Callable
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest

from intarsia.lsp.machine import (
    POWER_READ_EVERY_S,
    SLOWNESS,
    Load,
    Power,
    Strain,
    runs_on_battery,
)
from intarsia.lsp.settings import Settings, UnderStrain


def test_it_is_read_again_only_after_a_while() -> None:
    now, reads = [0.0], iter([True, False])
    power = Power(read=lambda: next(reads), clock=lambda: now[0])
    assert power.is_on_battery()
    now[0] = POWER_READ_EVERY_S - 1
    assert power.is_on_battery()
    now[0] = POWER_READ_EVERY_S
    assert not power.is_on_battery()


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
def test_what_the_system_says(
    read: Callable[[], object], is_on_battery: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", read, raising=False)
    assert runs_on_battery() is is_on_battery


def test_a_system_without_batteries_is_on_mains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(psutil, "sensors_battery", raising=False)
    assert not runs_on_battery()


def strain(*, battery: bool = False, load: float = 0.0) -> Strain:
    return Strain(Power(lambda: battery), Load(lambda: load))


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


def test_the_load_is_read_now_and_then() -> None:
    now, loads = [0.0], iter([9.0, 0.0])
    load = Load(lambda: next(loads), lambda: now[0])
    assert load.is_busy() and load.is_busy()
    now[0] = 10.0
    assert not load.is_busy()
