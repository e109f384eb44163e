"""``:Intarsia context``: what the model sees at the cursor, in a window of its own."""

from collections.abc import Callable

from headless_nvim import Neovim

RULES = {"text": "withdraw(1)"}
SHOWN = "vim.fn.bufnr('intarsia://context')"
SEEN = f"table.concat(vim.api.nvim_buf_get_lines({SHOWN}, 0, -1, false), '|')"
Edit = Callable[..., Neovim]


def test_the_text_can_be_read_and_not_changed(edit: Edit) -> None:
    nvim = edit("one = 1\n")
    nvim.keys("A.")
    nvim.run("vim.cmd('Intarsia context')")
    nvim.until(f"{SHOWN} ~= -1 and {SEEN}:find('The model sees about', 1, true)")
    assert nvim.lua(f"vim.bo[{SHOWN}].modifiable") is False
    assert nvim.lua(f"vim.bo[{SHOWN}].buftype") == "nofile"
    assert nvim.lua("vim.api.nvim_buf_get_name(0)").endswith("a.py")  # the cursor has stayed
    nvim.run("vim.cmd.only()")
