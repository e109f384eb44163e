"""The server is told where the cursor has come to rest, once it has."""

from collections.abc import Callable

from headless_nvim import Neovim

RULES = {"text": "1"}

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


def test_it_is_told_of_the_place_and_not_of_those_on_the_way(
    edit: Callable[..., Neovim],
) -> None:
    nvim = edit("one\ntwo\nthree\nfour\n")
    nvim.run(WATCH)
    nvim.keys("jjjkl")
    nvim.until("#asked > 0")
    (asked,) = nvim.lua("asked")
    place = {"line": 2, "character": 1}
    assert asked["range"] == {"start": place, "end": place}
    assert asked["context"]["triggerKind"] == 2


def test_with_ghost_text_off_it_is_told_nothing(edit: Callable[..., Neovim]) -> None:
    nvim = edit("one\ntwo\nthree\n", "b.py")
    nvim.run(WATCH)
    nvim.run("require('intarsia').toggle()")
    nvim.keys("j")
    nvim.run("vim.wait(600)")
    assert nvim.lua("#asked") == 0
    nvim.run("require('intarsia').toggle()")
    nvim.keys("j")
    nvim.until("#asked > 0")
