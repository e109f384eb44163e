"""Next edits in Neovim on a terminal: what the screen shows, and in which colours."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from headless_nvim import ATTACHED
from neovim_terminal import TELLING_COLOURS, NeovimTerminal, neovim_terminal
from rule_server import rule_server_command
from scripted_next_edits import rule
from temporary_address import temporary_address

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
]

SOURCE = """\
if  area(a, b):
    return a * b


print(area(1, 2))
print(area(3, 4))
if True:
    print(area(5, 6))
print("the end")
"""
RULES = [
    rule("(area(1", "(size(1"),
    rule("(area(3", "(size(3"),
    rule("    print(area(5, 6))", "    width = 5\n    print(size(width, 6))"),
]
COLOURS = f"""{TELLING_COLOURS}
  vim.api.nvim_set_hl(0, "IntarsiaNextEdit", {{ fg = "#707171" }})
  vim.api.nvim_set_hl(0, "IntarsiaNextEditRemoved", {{ fg = "#c05151", strikethrough = true }})
  vim.api.nvim_set_hl(0, "IntarsiaNextEditAdded", {{ fg = "#51c051" }})
"""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[NeovimTerminal]:
    """A Neovim with an engine that finds next edits by rules; the engine is ready."""
    file = tmp_path / "example.py"
    file.write_text(SOURCE)
    options = {
        "cmd": rule_server_command(next_edits=RULES),
        "settings": {"fillAhead": "off", "debounceMs": 0},
    }
    with temporary_address() as address:
        folder = Path(tempfile.mkdtemp(prefix="nvim", dir=address.directory))
        with neovim_terminal(
            folder, file, options, address.as_environment(), before=COLOURS
        ) as terminal:
            terminal.nvim.until(ATTACHED)
            terminal.nvim.until("(require('intarsia').info() or {}).state == 'ready'")
            yield terminal
            messages = terminal.nvim.messages()
            assert "Error" not in messages, messages


def gone(terminal: NeovimTerminal) -> str:
    return terminal.in_colour_of("IntarsiaNextEditRemoved")


def come(terminal: NeovimTerminal) -> str:
    return terminal.in_colour_of("IntarsiaNextEditAdded")


def test_they_are_marked_shown_accepted_in_a_chain_and_dismissed(terminal: NeovimTerminal) -> None:
    terminal.keys("wcwsize\x1b")
    terminal.shows("print(area(1, 2))  » next edit")
    terminal.shows("print(area(3, 4))  »")
    assert gone(terminal) == come(terminal) == ""

    terminal.keys("\x1bg")
    terminal.shows("print(areasize(1, 2))")
    terminal.until(lambda: (gone(terminal), come(terminal)) == ("area", "size"))
    assert terminal.cursor() == (4, 6)

    terminal.keys("\x1bg")  # accepts it, and shows the next one
    terminal.shows("print(size(1, 2))")
    terminal.shows("print(areasize(3, 4))")
    terminal.shows("    print(area(5, 6))  »")

    terminal.keys("\x1b")
    terminal.shows("    print(area(5, 6))  » next edit")
    assert gone(terminal) == ""

    terminal.keys("\x1bg")
    terminal.until(lambda: come(terminal) == "    width = 5\n    print(size(width, 6))")
    assert gone(terminal) == "print(area(5, 6))"
    lines = terminal.lines()
    at = lines.index("    print(area(5, 6))")
    assert lines[at + 1 : at + 4] == [
        "    width = 5",
        "    print(size(width, 6))",
        'print("the end")',
    ]

    terminal.keys("\x1bg")
    after = (
        SOURCE.replace("if  area", "if  size")
        .replace("area(1", "size(1")
        .replace("    print(area(5, 6))", "    width = 5\n    print(size(width, 6))")
    )
    terminal.nvim.holds(after.rstrip("\n").replace("\n", "|"))
    terminal.until(lambda: "»" not in "".join(terminal.lines()))
