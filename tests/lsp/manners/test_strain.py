"""On battery and on a busy computer suggestions wait longer, or come only when asked for."""

import pytest

from intarsia.lsp.manners.strain import SLOWNESS, Strain
from intarsia.lsp.settings import Settings, UnderStrain
from intarsia.lsp.suggestions.load import Load
from intarsia.lsp.suggestions.power import Power


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
