"""What a user is told on demand, by status line and commands; and counts, context and repair."""

from intarsia.lsp.statistics import LanguageCounts, read_counts, statistics_file

RULES = {
    "rules": [("one =", "1"), ("two =", "first + second")],
    "likely": ["def f(a, b):"],
    "text": "a",
}
AFTER = """
  _G.announced = 0
  vim.api.nvim_create_autocmd("User", {
    pattern = "IntarsiaStatus",
    callback = function() _G.announced = _G.announced + 1 end,
  })
"""


def test_the_status_line_tells_how_long_the_last_answer_took(edit) -> None:
    nvim = edit("one =\n")
    nvim.play(("A<Space>", "1"))
    nvim.until("require('intarsia').status():match('^intarsia: %d+ ms$')")
    assert nvim.lua("require('intarsia').info().state") == "ready"
    assert nvim.lua("_G.announced") > 0


def test_the_status_line_says_which_key_shows_what_was_too_improbable(edit) -> None:
    nvim = edit("one =\n")
    nvim.change_settings(showThreshold=100)
    nvim.keys("A<Space>")
    nvim.until("require('intarsia').status() == 'intarsia: unsure: M-n shows it'")
    nvim.play(("<M-n>", "1"))
    nvim.until("not require('intarsia').status():match('unsure')")
    nvim.change_settings(showThreshold="eager")


def test_the_status_line_is_empty_where_the_server_is_not_attached(edit) -> None:
    nvim = edit("one =\n")
    nvim.run("vim.cmd.help()")
    assert nvim.lua("require('intarsia').status()") == ""
    nvim.run("vim.cmd.helpclose()")


def test_the_command_tells_model_and_last_answer(edit) -> None:
    nvim = edit("one =\n")
    nvim.play(("A<Space>", "1"))
    nvim.until("(require('intarsia').info().told or {})[1] == 'Last: a suggestion was shown'")
    told = nvim.run("return vim.api.nvim_exec2('Intarsia status', { output = true }).output")
    assert "model: " in told
    assert "Last: a suggestion was shown\n" in told  # and how it came
    assert " ms · " in told or "known before" in told


def test_why_gives_the_reason_of_a_file_that_is_left_out(edit) -> None:
    nvim = edit("one =\n", name="server.pem.py.env")
    nvim.keys("A<Space>")
    nvim.until("vim.tbl_get(require('intarsia').info() or {}, 'last', 'reason')")
    why = nvim.lua("require('intarsia.status').why()")
    assert "*.env" in why


def test_a_pause_ends_by_itself(edit) -> None:
    nvim = edit("one =\n")
    nvim.run("vim.cmd('silent Intarsia pause 0.01')")
    assert nvim.lua("require('intarsia').status()") == "intarsia: paused"
    nvim.play(("A<Space>", "1"))


def test_in_manual_mode_only_a_key_asks(edit) -> None:
    nvim = edit("one =\n")
    nvim.run("vim.cmd('silent Intarsia manual')")
    nvim.keys("A<Space>")
    nvim.is_silent("on request only")
    nvim.play(("<M-n>", "1"))
    nvim.keys("<Esc>")
    nvim.run("vim.cmd('silent Intarsia manual')")
    nvim.play(("o.<BS>one =<Space>", "1"))


# The command line in place of models and counts; of the models, the second one is chosen.
PROGRAM = """#!/bin/sh
[ "$1" = status ] && exec echo "told: $*"
echo '{"model":"small","label":"small","description":"there","detail":"1 GB"}'
echo '{"model":"large","label":"large","description":"not there","detail":"9 GB"}'
"""
CHOOSE = """
vim.ui.select = function(choices, options, on_choice)
  listed = options.format_item(choices[2])
  on_choice(choices[2])
end
"""


def test_statistics_are_shown_and_models_listed_by_the_servers_program(edit, tmp_path) -> None:
    nvim = edit("one =\n")
    program = tmp_path / "intarsia"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    nvim.run("own = require('intarsia.options').current")
    nvim.run("cmd = own.cmd; own.cmd = { ..., 'serve' }", str(program))
    nvim.run("vim.cmd.Intarsia('stats')")
    nvim.until("vim.fn.getline(1) == 'told: status --stats'")
    nvim.run(f"vim.cmd('bwipeout!') {CHOOSE} vim.cmd.Intarsia('model')")
    assert nvim.lua("listed") == "large (not there; 9 GB)"
    assert nvim.lua("vim.lsp.get_clients({ name = 'intarsia' })[1].settings.intarsia.model") == (
        nvim.lua("own.settings.model")
    )
    assert nvim.lua("own.settings.model") == "large"
    nvim.run("own.cmd = cmd; require('intarsia.options').change('model', vim.NIL)")


def test_the_log_shows_what_the_server_said(edit) -> None:
    nvim = edit("one =\n")
    nvim.play(("A<Space>", "1"))
    nvim.keys("<Esc>")
    nvim.run("vim.cmd.Intarsia('log')")
    nvim.until("vim.fn.search('filled in', 'bnw') > 0")
    nvim.keys("q")
    nvim.until("#vim.api.nvim_list_wins() == 1")


def test_commands_are_completed(edit) -> None:
    nvim = edit("")
    complete = "vim.fn.getcompletion('Intarsia {}', 'cmdline')"
    assert nvim.lua(complete.format("re")) == ["restart", "rewrite"]
    assert nvim.lua(complete.format("rewrite ")) == ["0.3", "0.5", "0.8"]
    assert nvim.lua(complete.format("log ")) == []


CONTEXT = "vim.fn.bufnr('intarsia://context')"
SEEN_LINES = f"table.concat(vim.api.nvim_buf_get_lines({CONTEXT}, 0, -1, false), '|')"


def test_the_context_can_be_read_and_not_changed(edit) -> None:
    nvim = edit("one = 1\n")
    nvim.keys("A.")
    nvim.run("vim.cmd('Intarsia context')")
    nvim.until(f"{CONTEXT} ~= -1 and {SEEN_LINES}:find('The model sees about', 1, true)")
    assert nvim.lua(f"vim.bo[{CONTEXT}].modifiable") is False
    assert nvim.lua(f"vim.bo[{CONTEXT}].buftype") == "nofile"
    assert nvim.lua("vim.api.nvim_buf_get_name(0)").endswith("a.py")  # the cursor has stayed
    nvim.run("vim.cmd.only()")


# Keeps the places that code actions are asked for at.
WATCH = """
asked = {}
local client = vim.lsp.get_clients({ name = "intarsia" })[1]
local request = client.request
client.request = function(self, method, params, ...)
  if method == "textDocument/codeAction" then
    table.insert(asked, params)
  end
  return request(self, method, params, ...)
end
"""


def test_the_server_is_told_of_the_cursors_place_and_not_of_those_on_the_way(edit) -> None:
    nvim = edit("one\ntwo\nthree\nfour\n")
    nvim.run(WATCH)
    nvim.keys("jjjkl")
    nvim.until("#asked > 0")
    (asked,) = nvim.lua("asked")
    place = {"line": 2, "character": 1}
    assert asked["range"] == {"start": place, "end": place}
    assert asked["context"]["triggerKind"] == 2


def test_with_ghost_text_off_the_server_is_told_nothing(edit) -> None:
    nvim = edit("one\ntwo\nthree\n", "b.py")
    nvim.run(WATCH)
    nvim.run("require('intarsia').toggle()")
    nvim.keys("j")
    nvim.run("vim.wait(600)")
    assert nvim.lua("#asked") == 0
    nvim.run("require('intarsia').toggle()")
    nvim.keys("j")
    nvim.until("#asked > 0")


def counted() -> LanguageCounts:
    return read_counts(statistics_file()).counts.total


def test_each_way_to_accept_is_counted_once(edit) -> None:
    before = counted()
    nvim = edit("two =\n")
    nvim.play(("A<Space>", "first + second"))
    nvim.keys("<M-l>")
    nvim.holds("two = first + second")
    nvim = edit("two =\n", "b.py")
    nvim.play(("A<Space>", "first + second"), ("<M-w>", " + second"), ("<M-w>", " second"))
    nvim = edit("two =\n", "c.py")
    nvim.play(("A<Space>", "first + second"), ("fir", "st + second"))
    nvim.keys("<M-e>x")
    nvim.holds("two = firx")
    nvim.keys("<Esc>")
    nvim.restart_server()
    after = counted()
    assert after.accepted - before.accepted == 2
    assert after.ended - before.ended == after.kept - before.kept == 2
    assert after.shown - before.shown >= 3


FIX = """
  _G.fixes = _G.fixes or {}
  vim.lsp.buf.code_action({
    apply = true,
    context = { only = { 'quickfix' }, diagnostics = {} },
    filter = function(action)
      table.insert(_G.fixes, action.title)
      return true
    end,
  })
"""
IS_FOUND = """(function()
  local params = vim.lsp.util.make_range_params(0, 'utf-16')
  params.context = { only = { 'quickfix' }, diagnostics = {}, triggerKind = 1 }
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 10000) or {}
  for _, answer in pairs(answers) do
    if answer.result and #answer.result > 0 then return true end
  end
end)()"""


def test_a_quick_fix_repairs_the_line_and_one_undo_takes_it_back(edit) -> None:
    nvim = edit("def f(a, b:\n    return a\n")
    nvim.until(IS_FOUND)  # the menu waits three seconds only, and an engine has to start
    nvim.run(FIX)
    nvim.holds("def f(a, b):|    return a")
    assert nvim.lua("_G.fixes") == ['Repair: insert ")" (intarsia)']
    nvim.keys("u")
    nvim.holds("def f(a, b:|    return a")
