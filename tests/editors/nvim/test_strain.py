"""On battery: a longer pause, or nothing by itself, as the settings say."""

import time

from headless_nvim import GHOST_TEXT

from intarsia.lsp.manners import SLOWNESS

RULES = {"text": "1", "rules": [("a +", "2")], "on_battery": True}
PAUSE_MS = 200
OPTIONS = {"settings": {"debounceMs": 0, "deadlineMs": 60_000, "onBattery": "off"}}


def test_on_battery_only_a_key_asks(edit) -> None:
    nvim = edit("x =\n")
    nvim.keys("A<Space>")
    nvim.is_silent("is on battery")
    nvim.keys("<M-n>")
    nvim.until(GHOST_TEXT)


def test_slower_is_four_times_the_pause_in_typing(edit) -> None:
    nvim = edit("x =\n", "b.py")
    nvim.change_settings(debounceMs=PAUSE_MS, onBattery="slower", whenBusy="same")
    nvim.keys("A<Space>")
    nvim.shows("1")
    started_at = time.monotonic()
    nvim.keys("a + ")  # several keys in quick succession
    nvim.shows("2")
    assert time.monotonic() - started_at >= SLOWNESS * PAUSE_MS / 1000
