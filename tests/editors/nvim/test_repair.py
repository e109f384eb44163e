"""A repair is a quick fix in Neovim's own menu: applied once, and undone by one undo."""

from collections.abc import Callable

from headless_nvim import Neovim

RULES = {"likely": ["def f(a, b):"], "text": "a"}
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
Edit = Callable[..., Neovim]


def test_a_quick_fix_repairs_the_line_and_one_undo_takes_it_back(edit: Edit) -> None:
    nvim = edit("def f(a, b:\n    return a\n")
    nvim.until(IS_FOUND)  # the menu waits three seconds only, and an engine has to start
    nvim.run(FIX)
    nvim.holds("def f(a, b):|    return a")
    assert nvim.lua("_G.fixes") == ['Repair: insert ")" (intarsia)']
    nvim.keys("u")
    nvim.holds("def f(a, b:|    return a")
