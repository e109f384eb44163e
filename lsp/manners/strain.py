"""Suggestions are slower, or off, while the computer runs on battery or is busy."""

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.settings import Settings
from intarsia.lsp.suggestions.load import Load
from intarsia.lsp.suggestions.power import Power

SLOWNESS = 4
"""How many times longer a key waits for the next one."""


class Strain:
    """What the settings say of a computer with this source of power and this load."""

    def __init__(self, power: Power, load: Load) -> None:
        self._power = power
        self._load = load

    def silence(self, settings: Settings) -> NoSuggestion | None:
        """Return why nothing is suggested automatically now, None where something is."""
        if settings.on_battery == "off" and self._power.is_on_battery():
            return NoSuggestion(reason="the computer runs on battery (onBattery)", kind="battery")
        if settings.when_busy == "off" and self._load.is_busy():
            return NoSuggestion(reason="the computer is busy (whenBusy)", kind="busy")
        return None

    def slowness(self, settings: Settings) -> int:
        """Return how many times longer a key waits for the next one."""
        is_slow = (settings.on_battery == "slower" and self._power.is_on_battery()) or (
            settings.when_busy == "slower" and self._load.is_busy()
        )
        return SLOWNESS if is_slow else 1
