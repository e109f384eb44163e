"""On battery, and on a busy computer: nothing by itself where the settings say so."""

from collections.abc import Callable

from headless_nvim import GHOST_TEXT, Neovim

RULES = {"text": "1", "on_battery": True, "load_per_core": 9.0}
OPTIONS = {"settings": {"debounceMs": 0, "deadlineMs": 60_000, "onBattery": "off"}}
REASON = "(vim.tbl_get(require('intarsia').info() or {}, 'last', 'reason') or '')"
CHANGE = """
local client = vim.lsp.get_clients({ name = 'intarsia' })[1]
client.settings = vim.tbl_deep_extend('force', client.settings, { intarsia = ... })
client:notify('workspace/didChangeConfiguration', { settings = client.settings })
"""
Edit = Callable[..., Neovim]


def test_on_battery_only_a_key_asks(edit: Edit) -> None:
    nvim = edit("x =\n")
    nvim.keys("A<Space>")
    nvim.until(f"{REASON}:find('runs on battery', 1, true)")
    assert nvim.lua(GHOST_TEXT) is None
    nvim.keys("<M-n>")
    nvim.until(GHOST_TEXT)


def test_while_the_computer_is_busy_only_a_key_asks(edit: Edit) -> None:
    nvim = edit("x =\n")
    nvim.run(CHANGE, {"onBattery": "same", "whenBusy": "off"})
    nvim.keys("A<Space>")
    nvim.until(f"{REASON}:find('computer is busy', 1, true)")
    assert nvim.lua(GHOST_TEXT) is None
    nvim.run(CHANGE, {"whenBusy": "same"})
    nvim.keys("+ ")
    nvim.shows("1")
