"""The plugin with the real engine and the real default model."""

from pathlib import Path

import pytest
from editor_clients import SERVER
from headless_nvim import ATTACHED, headless_nvim

from intarsia.engine.ipc.address import Address

pytestmark = pytest.mark.model
SUM = 'def add(left, right):\n    """Return the sum of left and right."""\n    return\n'


def test_a_suggestion_is_shown_and_accepted(real_engine_runtime: Address, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(SUM)
    options = {"cmd": SERVER, "settings": {"deadlineMs": 60_000}}
    environment = real_engine_runtime.as_environment()
    with headless_nvim(real_engine_runtime.directory, file, options, environment) as nvim:
        nvim.until(ATTACHED)
        nvim.keys("GA<Space>")
        nvim.until("require('intarsia').is_shown()", seconds=120)
        nvim.shows("left + right")
        nvim.keys("<M-w>")
        nvim.shows(" + right")
        nvim.keys("<M-l>")
        nvim.until("vim.api.nvim_get_current_line() == '    return left + right'")


def test_a_selection_is_filled(real_engine_runtime: Address, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(SUM.replace("return\n", "return left - left\n"))
    environment = real_engine_runtime.as_environment()
    with headless_nvim(real_engine_runtime.directory, file, {"cmd": SERVER}, environment) as nvim:
        nvim.until(ATTACHED)
        nvim.keys("G$vFlFl:Intarsia fill<CR>")
        nvim.until("not vim.api.nvim_get_current_line():find('left %- left')", seconds=120)
        assert nvim.lua("vim.api.nvim_get_current_line()").startswith("    return ")
