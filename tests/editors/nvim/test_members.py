"""What Neovim tells our server of the members that the buffer's other servers know after a dot."""

from pathlib import Path
from typing import Any

import pytest
from headless_nvim import Neovim

RULES: dict[str, Any] = {"rules": [], "text": "open()"}
BEFORE = Path(__file__).with_name("member_servers.lua").read_text(encoding="utf-8")
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
