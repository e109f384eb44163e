"""Rename everywhere in Neovim on a terminal, by a real language server of the same buffer."""

import json
import sys
import tempfile
from pathlib import Path

import pytest
from headless_nvim import ATTACHED
from neovim_terminal import NeovimTerminal, neovim_terminal
from rule_server import rule_server_command
from scripted_next_edits import rule
from temporary_address import temporary_address

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
]

SOURCE = """\
def area(a, b):
    return a * b


print(area(1, 2))
print("the area", area(3, 4))  # the area
"""
OTHER = "from example import area\n\nprint(area(5, 6))\n"
RENAMED = SOURCE.replace("area(", "size(")
# python-lsp-server, which renames by jedi: its edits replace whole files.
LANGUAGE_SERVER = f"""
  vim.lsp.config("pylsp", {{
    cmd = {{ {json.dumps(sys.executable)}, "-m", "pylsp" }},
    filetypes = {{ "python" }},
    root_markers = {{ "pyproject.toml" }},
  }})
  vim.lsp.enable("pylsp")
"""
OTHER_TEXT = """(function()
  local found = vim.fn.bufnr("other.py")
  return found > 0 and table.concat(vim.api.nvim_buf_get_lines(found, 0, -1, false), "\\n") .. "\\n"
end)()"""


def holds(terminal: NeovimTerminal, text: str) -> None:
    terminal.nvim.holds(text.rstrip("\n").replace("\n", "|"))


def test_all_uses_are_renamed_in_all_files(tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text(SOURCE)
    (tmp_path / "other.py").write_text(OTHER)
    (tmp_path / "pyproject.toml").write_text("")
    options = {
        "cmd": rule_server_command(next_edits=[rule("area(1", "size(1")]),
        "settings": {"fillAhead": "off", "debounceMs": 0},
    }
    before = LANGUAGE_SERVER + "vim.o.updatetime = 100\n"
    with (
        temporary_address() as address,
        neovim_terminal(
            Path(tempfile.mkdtemp(prefix="nvim", dir=address.directory)),
            file,
            options,
            address.as_environment(),
            before=before,
        ) as terminal,
    ):
        terminal.nvim.until(ATTACHED)
        terminal.nvim.until("(require('intarsia').info() or {}).state == 'ready'")
        terminal.nvim.until("#require('intarsia.next_edit.rename').clients(0) == 1", 120)
        terminal.keys("wcwsize\x1b")
        terminal.shows("print(area(1, 2))  » next edit")
        terminal.keys("\x1bg")
        terminal.shows("print(areasize(1, 2))  grn renames everywhere")
        terminal.keys("grn")
        terminal.shows("intarsia: renamed area to size in 2 files")
        holds(terminal, RENAMED)
        assert terminal.nvim.lua(OTHER_TEXT) == OTHER.replace("area", "size")
        assert (tmp_path / "other.py").read_text() == OTHER  # changed, and not written
        terminal.until(lambda: "»" not in "".join(terminal.lines()))
        terminal.keys("u")
        holds(terminal, SOURCE)
        terminal.keys(":buffer other.py\ru")
        holds(terminal, OTHER)
        assert terminal.nvim.lua("require('intarsia').has_next_edit()") is False
