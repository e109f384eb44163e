"""What a status line gets, and the words of :Intarsia status, why and log."""

from collections.abc import Callable

from headless_nvim import Neovim

RULES = {"rules": [("one =", "1")], "text": ""}
AFTER = """
  _G.announced = 0
  vim.api.nvim_create_autocmd("User", {
    pattern = "IntarsiaStatus",
    callback = function() _G.announced = _G.announced + 1 end,
  })
"""
Edit = Callable[..., Neovim]


def test_the_status_line_tells_how_long_the_last_answer_took(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("1")
    nvim.until("require('intarsia').status():match('^intarsia: %d+ ms$')")
    assert nvim.lua("require('intarsia').info().state") == "ready"
    assert nvim.lua("_G.announced") > 0


def test_the_status_line_is_empty_where_the_server_is_not_attached(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.run("vim.cmd.help()")
    assert nvim.lua("require('intarsia').status()") == ""
    nvim.run("vim.cmd.helpclose()")


def test_the_command_tells_model_and_last_answer(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("1")
    told = nvim.run("return vim.api.nvim_exec2('Intarsia status', { output = true }).output")
    assert "model: " in told
    assert "in the engine" in told


def test_why_gives_the_reason_of_a_file_that_is_left_out(edit: Edit) -> None:
    nvim = edit("one =\n", name="server.pem.py.env")
    nvim.keys("A<Space>")
    nvim.until("vim.tbl_get(require('intarsia').info() or {}, 'last', 'reason')")
    why = nvim.lua("require('intarsia.status').why()")
    assert "*.env" in why


def test_a_pause_ends_by_itself(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.run("vim.cmd('silent Intarsia pause 0.01')")
    assert nvim.lua("require('intarsia').status()") == "intarsia: paused"
    nvim.keys("A<Space>")
    nvim.shows("1")


def test_the_log_shows_what_the_server_said(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("1")
    nvim.keys("<Esc>")
    nvim.run("vim.cmd.Intarsia('log')")
    nvim.until("vim.fn.search('filled in', 'bnw') > 0")
    nvim.keys("q")
    nvim.until("#vim.api.nvim_list_wins() == 1")


def test_a_restart_brings_a_new_server(edit: Edit) -> None:
    nvim = edit("one =\n")
    old = nvim.lua("vim.lsp.get_clients({ name = 'intarsia' })[1].id")
    nvim.run("vim.cmd.Intarsia('restart')")
    nvim.until(
        f"(function() local c = vim.lsp.get_clients({{ name = 'intarsia', bufnr = 0 }})"
        f" return #c == 1 and c[1].id ~= {old} end)()"
    )
    nvim.keys("A<Space>")
    nvim.shows("1")


def test_commands_are_completed(edit: Edit) -> None:
    nvim = edit("")
    complete = "vim.fn.getcompletion('Intarsia {}', 'cmdline')"
    assert nvim.lua(complete.format("re")) == ["restart", "rewrite"]
    assert nvim.lua(complete.format("rewrite ")) == ["0.3", "0.5", "0.8"]
    assert nvim.lua(complete.format("log ")) == []


def test_an_unknown_command_names_the_known_ones(edit: Edit) -> None:
    nvim = edit("")
    nvim.keys(":Intarsia sing<CR>")
    nvim.tells('unknown command "sing"; commands are: cancel, context, fill')
