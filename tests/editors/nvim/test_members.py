"""What Neovim tells our server of the members that the buffer's other servers know after a dot."""

from typing import Any

import pytest
from headless_nvim import Neovim

RULES: dict[str, Any] = {"rules": [], "text": "open()"}
# Other servers in this process, each with one answer; and what our server is told.
BEFORE = """
asked, told = {}, {}

function start_other_server(name, result, encoding)
  local function cmd(dispatchers)
    local is_closing, last_id = false, 0
    return {
      request = function(method, params, callback)
        last_id = last_id + 1
        if method == "initialize" then
          callback(nil, { capabilities = {
            completionProvider = vim.empty_dict(), positionEncoding = encoding,
          } })
        elseif method == "textDocument/completion" then
          table.insert(asked, params)
          if result ~= "never" then
            callback(result == "fail" and { code = -32000, message = "no" } or nil, result)
          end
        else
          callback(nil, vim.NIL)
        end
        return true, last_id
      end,
      notify = function() return true end,
      is_closing = function() return is_closing end,
      terminate = function()
        is_closing = true
        dispatchers.on_exit(0, 15)
      end,
    }
  end
  vim.lsp.start({ name = name, cmd = cmd }, { bufnr = 0 })
end
"""
AFTER = """
local members = require("intarsia.members")
local answer = members.answer
members.answer = function(params)
  local found = answer(params)
  table.insert(told, found == vim.NIL and "nothing" or found)
  return found
end
"""
TEXT, PLACE = "x = '𝛑'; shop\n", 15  # after the dot, in UTF-16 units


def item(label: str, kind: int | None) -> dict[str, object]:
    return {"label": label} if kind is None else {"label": label, "kind": kind}


METHOD, TEXT_KIND, KEYWORD, SNIPPET = 2, 1, 14, 15
OPEN, WORDS = item("open(name)", METHOD), [item("word", TEXT_KIND), item("if", KEYWORD)]


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([[OPEN, item("größe?", 5), *WORDS, item("main", SNIPPET), item("x", None)]], ...),
        ([{"isIncomplete": False, "items": [OPEN]}, WORDS, "fail"], (["open"], False)),
        ([{"isIncomplete": True, "items": [OPEN]}], (["open"], True)),
        ([[OPEN], {"isIncomplete": True, "items": WORDS}], (["open"], False)),
        ([WORDS], "nothing"),
        (["fail", []], "nothing"),
        ([], "nothing"),
    ],
)
def test_it_tells_the_members_that_other_servers_know(edit, answers, told) -> None:
    nvim: Neovim = edit(TEXT)
    nvim.until("(require('intarsia').info() or {}).state == 'ready'")
    nvim.run("asked, told = {}, {}")
    for number, answer in enumerate(answers):
        name, encoding = f"other{number}", ("utf-16", "utf-8")[number % 2]
        nvim.run("start_other_server(...)", name, answer, encoding)
        nvim.until(f"(vim.lsp.get_clients({{ name = '{name}' }})[1] or {{}}).initialized")
    nvim.keys("A.")
    nvim.until("#told == 1")
    (found,) = nvim.lua("told")
    if told is ...:
        told = (["open", "größe", "if"], False)
    assert found == (
        told if isinstance(told, str) else dict(zip(("names", "isIncomplete"), told, strict=True))
    )
    places = [it["position"] for it in nvim.lua("asked") or ()]
    assert places == [{"line": 0, "character": PLACE + 2 * (it % 2)} for it in range(len(answers))]
    nvim.shows("open()")
    nvim.keys("<Esc>")
    nvim.run(
        "for _, it in ipairs(vim.lsp.get_clients()) do "
        "if it.name ~= 'intarsia' then it:stop(true) end end"
    )
    nvim.until("#vim.lsp.get_clients() == 1")


def test_a_server_that_never_answers_holds_nothing_up(edit) -> None:
    nvim: Neovim = edit(TEXT)
    nvim.run("told = {}; start_other_server(...)", "other", "never", "utf-16")
    nvim.until("(vim.lsp.get_clients({ name = 'other' })[1] or {}).initialized")
    nvim.play(("A.", "open()"))
    assert nvim.lua("#told") == 0
