"""``:Intarsia context``: what the model sees at the cursor, of this file and of others."""

import time
from collections.abc import Callable
from pathlib import Path

from headless_nvim import Neovim

RULES = {"text": "withdraw(1)"}
MODELS = '''class {name}:
    """Money."""

    def {method}(self, amount: int) -> int:
        return amount
'''
USE = "from models import {name}\n\n\ndef pay(it: {name}) -> None:\n    it\n"
SHOWN = "vim.fn.bufnr('intarsia://context')"
SEEN = f"table.concat(vim.api.nvim_buf_get_lines({SHOWN}, 0, -1, false), '|')"
Edit = Callable[..., Neovim]


def project(folder: Path, name: str, method: str) -> None:
    """Make a project with one module, for a file that uses it."""
    (folder / ".git").mkdir(parents=True)
    (folder / "models.py").write_text(MODELS.format(name=name, method=method))


def seen_with(nvim: Neovim, words: str) -> str:
    """Return what the model sees at the cursor, once these words are in it."""
    ends_at = time.monotonic() + 60
    while True:
        nvim.keys("<Esc>A")  # code of other files is chosen after a request
        nvim.run("vim.cmd('Intarsia context')")
        nvim.until(f"{SHOWN} ~= -1")
        if words in (seen := str(nvim.lua(SEEN))):
            return seen
        assert time.monotonic() < ends_at, f"no {words!r} in {seen}"
        time.sleep(0.8)  # longer than the pause before the choice


def test_each_project_gives_its_own_code_with_the_reason(edit: Edit, tmp_path: Path) -> None:
    projects = {"bank": ("Account", "withdraw"), "shop": ("Cart", "check_out")}
    for folder, (name, method) in projects.items():
        project(tmp_path / folder, name, method)
    for folder, (name, method) in projects.items():
        nvim = edit(USE.format(name=name), f"{folder}/use.py")
        nvim.keys("GA.")
        nvim.shows("withdraw(1)")
        seen = seen_with(nvim, f"def {method}(self, amount: int) -> int")
        assert "── models.py" in seen
        assert f"members of: {name}" in seen
        (other,) = {"Account", "Cart"} - {name}
        assert other not in seen, seen
        nvim.keys("<Esc>")
        nvim.run("vim.cmd.only()")


def test_the_text_can_be_read_and_not_changed(edit: Edit) -> None:
    nvim = edit("one = 1\n")
    nvim.keys("A.")
    seen_with(nvim, "The model sees about")
    assert nvim.lua(f"vim.bo[{SHOWN}].modifiable") is False
    assert nvim.lua(f"vim.bo[{SHOWN}].buftype") == "nofile"
    assert nvim.lua("vim.api.nvim_buf_get_name(0)").endswith("a.py")  # the cursor has stayed
    nvim.run("vim.cmd.only()")
