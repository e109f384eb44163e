"""Neovim as its users see it: a screen on a pseudo-terminal, the plugin, the server, the model."""

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from headless_nvim import ATTACHED
from neovim_terminal import NeovimTerminal, neovim_terminal

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
]

PATIENT = {"deadlineMs": 60_000, "invokedDeadlineMs": 60_000}
SERVER = [str(Path(sys.executable).with_name("intarsia")), "serve"]
SUM = 'def add(left, right):\n    """Return the sum of left and right."""\n    return\n'
AREA = "def area(width, height):\n    return width * height\n\n\n"
PERIMETER = f"{AREA}def perimeter(width, height):\n    return\n"
AUTO_PAIR = """
  vim.keymap.set("i", "(", "()<C-g>U<Left>")
  vim.keymap.set("i", ")", "<C-g>U<Right>")
"""
WORDS = (
    "def word_counts(text):\n"
    '    """Return how often each word is in the text, in small letters, without stops."""\n'
    "    counts = {}\n"
    "    for word in text.split():\n\n"
)


@pytest.fixture
def open_terminal(tmp_path: Path):
    """Open a file in a Neovim of its own; no error may be in its messages at the end."""
    with ExitStack() as stack:
        opened: list[NeovimTerminal] = []

        def start(address, text) -> NeovimTerminal:
            # Of its own: the Neovim of the test before may listen in its folder a little longer.
            folder = Path(tempfile.mkdtemp(prefix="nvim", dir=address.directory))
            file = tmp_path / "example.py"
            file.write_bytes(text.encode())
            terminal = stack.enter_context(
                neovim_terminal(
                    folder, file, {"cmd": SERVER, "settings": PATIENT}, address.as_environment()
                )
            )
            terminal.nvim.until(ATTACHED)
            opened.append(terminal)
            return terminal

        yield start
        for terminal in opened:
            messages = terminal.nvim.messages()
            assert "Error" not in messages, messages


def test_ghost_text_stands_behind_the_cursor_in_its_own_colour_and_is_accepted(
    open_terminal, real_engine_runtime
):
    terminal = open_terminal(real_engine_runtime, SUM)
    terminal.keys("GA ")
    terminal.suggests("left + right")
    terminal.shows("    return left + right")
    terminal.nvim.holds(SUM.replace("\n", "|").rstrip("|") + " ")
    terminal.keys("\x1bl")
    terminal.nvim.holds(SUM.replace("\n", "|").rstrip("|") + " left + right")
    terminal.until(lambda: "left + right" not in terminal.suggested())


def test_it_goes_on_in_its_own_colour_between_brackets_that_a_mapping_closes(
    open_terminal, real_engine_runtime
):
    terminal = open_terminal(real_engine_runtime, PERIMETER)
    terminal.nvim.run(AUTO_PAIR)
    terminal.keys("GA ")
    terminal.suggests("2 * (width + height)")
    terminal.keys("2 * (")
    terminal.suggests("width + height")  # though Neovim highlights the brackets around it
    terminal.keys("wid")
    terminal.suggests("th + height")
    terminal.keys("\x1bl")
    terminal.nvim.holds(PERIMETER.replace("\n", "|").rstrip("|") + " 2 * (width + height)")
    terminal.keys(")  # all sides")
    terminal.shows("    return 2 * (width + height)  # all sides")


def test_a_draft_is_seen_settling(open_terminal, real_engine_runtime):
    # A text of its own: what the engine has written before comes without a draft.
    terminal = open_terminal(real_engine_runtime, WORDS)
    terminal.nvim.change_settings(showThreshold=0)  # else a draft waits until it is certain
    terminal.keys("GA")
    terminal.ghost_text()
    assert terminal.has_shown("··")
    assert not any("··" in line for line in terminal.lines())


def test_a_code_action_fills_an_empty_body_and_one_undo_takes_it_back(
    open_terminal, real_engine_runtime
):
    text = SUM.replace("return\n", "...\n\n\nprint(add(1, 2))\n")
    terminal = open_terminal(real_engine_runtime, text)
    terminal.keys("3G:lua vim.lsp.buf.code_action()\r")
    terminal.shows("Code actions")
    choice = next(line for line in terminal.lines() if "Fill this hole" in line)
    terminal.keys(f"{choice.strip()[0]}\r")
    terminal.shows("    return left + right")
    terminal.shows("print(add(1, 2))")
    terminal.keys("\x1b\x1bu")
    terminal.nvim.holds(text.rstrip("\n").replace("\n", "|"))
