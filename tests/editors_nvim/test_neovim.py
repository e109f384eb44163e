"""The real Neovim with the configuration in editors/nvim and the real server."""

import sys
from pathlib import Path

import pytest
from editor_clients import SERVER
from headless_nvim import ATTACHED, GHOST_TEXT, MESSAGES, TEXT, Neovim, headless_nvim
from rule_server import rule_server_command

from intarsia.engine.ipc.address import Address

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="drives nvim over a unix socket")


def shown_once(nvim: Neovim, text: str) -> None:
    nvim.until(f"{GHOST_TEXT} == [[{text}]] or nil")


def test_ghost_text_appears_while_typing_and_is_taken_over(
    runtime: Address, tmp_path: Path
) -> None:
    file = tmp_path / "a.py"
    file.write_text("def f(x):\n    return\n")
    server = rule_server_command(text="x + {alternative}")
    environment = runtime.as_environment()
    with headless_nvim(runtime.directory, file, server, environment, {"debounceMs": 0}) as nvim:
        nvim.until(ATTACHED)
        nvim.keys("GA<Space>")
        shown_once(nvim, "x + 0")
        nvim.keys("x")
        shown_once(nvim, " + 0")
        nvim.keys("<M-l>")
        nvim.until(f"{TEXT} == [[def f(x):|    return x + 0]] or nil")
        nvim.keys("!")
        nvim.until(f"{TEXT} == [[def f(x):|    return x + 0!]] or nil")
        assert nvim.lua(MESSAGES) == ""


def test_next_shows_one_candidate_after_the_other(runtime: Address, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("y =\n")
    server = rule_server_command(text="x + {alternative}")
    environment = runtime.as_environment()
    with headless_nvim(runtime.directory, file, server, environment, {"debounceMs": 0}) as nvim:
        nvim.until(ATTACHED)
        nvim.keys("A<Space>")
        shown_once(nvim, "x + 0")
        for number in (1, 2, 0):
            nvim.keys("<M-]>")
            shown_once(nvim, f"x + {number}")
        nvim.keys("<Esc>")
        nvim.until(f"{GHOST_TEXT} == nil")
        assert nvim.lua(TEXT) == "y = "


def test_a_block_is_drawn_below_and_inserted_with_the_cursor_behind_it(
    runtime: Address, tmp_path: Path
) -> None:
    file = tmp_path / "a.py"
    file.write_text("def f():\n\nf()\n")
    server = rule_server_command(text="    x = 'ß'\n    return x\n")
    environment = runtime.as_environment()
    with headless_nvim(runtime.directory, file, server, environment, {"debounceMs": 0}) as nvim:
        nvim.until(ATTACHED)
        nvim.keys("jA")
        shown_once(nvim, "    x = 'ß'|    return x")
        nvim.keys("<M-l>")
        nvim.until(f"{TEXT} == [[def f():|    x = 'ß'|    return x|f()]] or nil")
        assert nvim.lua("vim.api.nvim_win_get_cursor(0)") == [3, 12]


def test_typing_something_else_takes_the_ghost_text_away(runtime: Address, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("y =\n")
    server = rule_server_command(rules=[("y =", "value")], text="")
    environment = runtime.as_environment()
    with headless_nvim(runtime.directory, file, server, environment, {"debounceMs": 0}) as nvim:
        nvim.until(ATTACHED)
        nvim.keys("A<Space>")
        shown_once(nvim, "value")
        nvim.keys("1;")
        nvim.until(f"{GHOST_TEXT} == nil")
        nvim.keys("<M-l>")
        assert nvim.until(TEXT).startswith("y = 1;")


def test_entering_insert_mode_asks_at_the_place_where_text_will_go(
    runtime: Address, tmp_path: Path
) -> None:
    file = tmp_path / "a.py"
    file.write_text("y = \nalpha = 1\nbeta = 2\n")
    server = rule_server_command(rules=[("y =", "1")], text="wrong place")
    environment = runtime.as_environment()
    with headless_nvim(runtime.directory, file, server, environment, {"debounceMs": 0}) as nvim:
        nvim.until(ATTACHED)
        nvim.keys("A")
        shown_once(nvim, "1")
        nvim.keys("<C-n>")  # the menu of words takes its place
        nvim.until(f"vim.fn.pumvisible() == 1 and {GHOST_TEXT} == nil")
        nvim.keys("<C-e>")
        nvim.until("vim.fn.pumvisible() == 0")
        nvim.keys("<BS><Space>")
        shown_once(nvim, "1")


@pytest.mark.model
def test_the_real_model_answers_in_neovim(real_engine_runtime: Address, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text('def add(a, b):\n    """Return the sum of a and b."""\n    return\n')
    environment = real_engine_runtime.as_environment()
    folder = real_engine_runtime.directory
    with headless_nvim(folder, file, SERVER, environment, {"deadlineMs": 60_000}) as nvim:
        nvim.until(ATTACHED)
        nvim.keys("GA<Space>")
        shown = nvim.until(GHOST_TEXT, seconds=120)
        assert "a + b" in shown
        nvim.keys("<M-l>")
        nvim.until(f"{TEXT}:find([[    return {shown}]], 1, true) and true or nil")
