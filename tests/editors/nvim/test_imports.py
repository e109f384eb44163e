"""Accepting a suggestion brings the import that it needs, and one undo takes both back."""

import time
from pathlib import Path

from headless_nvim import Neovim

RULES = {"rules": [("return", "np.zeros(3)")], "text": ""}
OPTIONS = {"settings": {"debounceMs": 0, "deadlineMs": 60_000, "fillAhead": "off"}}
OTHER = "import numpy as np\n\nprint(np)\n"
NOTES = """(function()
  local space, drawn = vim.api.nvim_create_namespace('intarsia.count'), {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {details = true})) do
    table.insert(drawn, mark[4].virt_text[1][1])
  end
  return table.concat(drawn, ' ')
end)()"""


def opened(edit, folder: Path) -> Neovim:
    """Open a file beside one that imports numpy; wait until the index knows it."""
    (folder / ".git").mkdir()
    (folder / "other.py").write_text(OTHER)
    nvim = edit("import os\n\n\ndef f():\n    return\n")
    nvim.keys("GA<Space>")
    ends_at = time.monotonic() + 60
    while True:
        nvim.shows("np.zeros(3)")
        if nvim.lua(NOTES):
            return nvim
        assert time.monotonic() < ends_at, "no import comes along"
        nvim.keys("<Esc>A")  # no suggestion waits for the index


def test_the_import_is_shown_and_one_undo_takes_both_back(edit, tmp_path: Path) -> None:
    nvim = opened(edit, tmp_path)
    assert nvim.lua(NOTES) == "(Add import numpy as np)"
    nvim.keys("<M-l>")
    nvim.holds("import os||import numpy as np|||def f():|    return np.zeros(3)")
    assert nvim.lua("vim.api.nvim_win_get_cursor(0)") == [7, 22]
    nvim.keys("<Esc>u")
    nvim.holds("import os|||def f():|    return ")


def test_the_first_part_with_the_name_brings_the_import(edit, tmp_path: Path) -> None:
    nvim = opened(edit, tmp_path)
    nvim.keys("<M-w>")
    nvim.holds("import os||import numpy as np|||def f():|    return np")
    nvim.keys("<M-l>")
    nvim.holds("import os||import numpy as np|||def f():|    return np.zeros(3)")


def test_what_is_told_of_the_import_ends_at_the_edge_of_the_window(edit, tmp_path):
    nvim = opened(edit, tmp_path)
    nvim.run("vim.cmd('vsplit | vertical resize 40')")
    try:
        nvim.keys("<Esc>A")
        nvim.shows("np.zeros(3)")
        nvim.until(f"{NOTES} == '(Add import nump…'")
    finally:
        nvim.run("vim.cmd('only')")
