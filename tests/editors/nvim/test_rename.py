"""Rename everywhere: another language server does it, and nothing is lost where it cannot.

The other server is a table of functions in this Neovim, so that each way to fail can be told to it.
"""

from pathlib import Path

import pytest
from headless_nvim import Neovim
from scripted_next_edits import rule

RULES = {
    "next_edits": [rule(" area(1", " größe(1"), rule("(area(3", "(größe(3")],
    "rules": [],
    "text": "",
}
OPTIONS = {"settings": {"debounceMs": 0, "deadlineMs": 60_000, "fillAhead": "off"}}
BEFORE = Path(__file__).with_name("renaming_server.lua").read_text(encoding="utf-8")
TEXT = """\
def area(a, b):
    return a * b


print("ü", area(1, 2))
print(area(3, 4))
"""
TYPED = TEXT.replace("def area", "def größe")
RENAMED = TEXT.replace("area", "größe")
SHOWN = "require('intarsia.next_edit').is_shown(vim.api.nvim_get_current_buf())"
OFFERED = "require('intarsia').has_next_edit()"


def typed(edit, answer: str = "rename") -> Neovim:
    """Type another name for the function; return once both offers are there."""
    nvim = edit(TEXT)
    nvim.until("(require('intarsia').info() or {}).state == 'ready'")
    nvim.run("start_other_server(...)", answer)
    nvim.until("#vim.lsp.get_clients({ bufnr = 0, name = 'other' }) == 1")
    nvim.until("vim.lsp.get_clients({ bufnr = 0, name = 'other' })[1].initialized")
    nvim.keys("wcwgröße<Esc>")
    nvim.until("#require('intarsia.next_edit').offers() == 2")
    return nvim


def stop(nvim: Neovim) -> None:
    nvim.run("vim.lsp.get_clients({ name = 'other' })[1]:stop()")
    nvim.until("#vim.lsp.get_clients({ name = 'other' }) == 0")


def expect_as_before(nvim: Neovim) -> None:
    """Wait until the user's own edit is there, and the offers are too."""
    nvim.holds_lines(TYPED)
    nvim.until(OFFERED)
    nvim.keys("<M-g>")
    nvim.until(SHOWN)
    nvim.keys("<M-g>")
    nvim.holds_lines(TYPED.replace(" area(1", " größe(1"))
    stop(nvim)


@pytest.mark.parametrize("answer", ["rename", "whole file"])
def test_a_key_renames_everywhere_and_one_undo_takes_it_back(edit, answer: str) -> None:
    nvim = typed(edit, answer)
    assert nvim.lua("vim.fn.maparg('grn', 'n', false, true).buffer") != 1
    nvim.keys("<M-g>")
    nvim.until("vim.fn.maparg('grn', 'n', false, true).buffer == 1")
    nvim.keys("grn")
    nvim.tells("renamed area to größe in 1 file")
    nvim.holds_lines(RENAMED)
    assert nvim.lua("other_server.asked") == [TEXT]  # it saw the text before the edit
    nvim.until(f"not {OFFERED}")
    assert nvim.lua("vim.fn.maparg('grn', 'n', false, true).buffer") != 1
    nvim.keys("u")
    nvim.holds_lines(TEXT)
    nvim.keys("<C-r>")
    nvim.holds_lines(RENAMED)
    stop(nvim)


def test_accepted_offers_are_part_of_it(edit) -> None:
    nvim = typed(edit)
    nvim.keys("<M-g>")
    nvim.until(SHOWN)
    nvim.keys("<M-g>")
    nvim.holds_lines(TYPED.replace(" area(1", " größe(1"))
    nvim.until("require('intarsia.next_edit').rename() ~= nil")
    nvim.keys(":Intarsia nextedit rename<CR>")
    nvim.tells("renamed area to größe")
    nvim.holds_lines(RENAMED)
    assert nvim.lua("other_server.asked") == [TEXT]
    stop(nvim)


def test_it_is_the_first_choice_of_the_list(edit) -> None:
    nvim = typed(edit)
    nvim.keys(":Intarsia nextedit all<CR>")
    nvim.until("vim.api.nvim_win_get_config(0).relative ~= ''")
    nvim.until("vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'Rename area → größe everywhere'")
    nvim.keys("<CR>")
    nvim.tells("renamed area to größe")
    nvim.holds_lines(RENAMED)
    stop(nvim)


def test_the_list_still_applies_what_is_ticked(edit) -> None:
    nvim = typed(edit)
    nvim.keys(":Intarsia nextedit all<CR>")
    nvim.until("vim.api.nvim_win_get_config(0).relative ~= ''")
    nvim.keys("j<Space><CR>")
    nvim.holds_lines(TYPED.replace("(area(3", "(größe(3"))
    stop(nvim)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("nothing", "other: it found nothing to rename"),
        ("fail", "other: this cannot be renamed"),
        ("here", "no other use was found"),
        ("elsewhere", "other: its edit does not rename this name"),
    ],
)
def test_another_servers_refusal_loses_nothing(edit, answer: str, why: str) -> None:
    nvim = typed(edit, answer)
    nvim.keys(":Intarsia nextedit rename<CR>")
    nvim.tells(f"not renamed, and the offers are as before: {why}")
    expect_as_before(nvim)


def test_one_that_never_answers_loses_nothing(edit) -> None:
    nvim = typed(edit, "never")
    nvim.run("defer_fn, vim.defer_fn = vim.defer_fn, function(call) return defer_fn(call, 500) end")
    nvim.keys(":Intarsia nextedit rename<CR>")
    nvim.holds_lines(TEXT)
    nvim.tells("not renamed, and the offers are as before: other: no answer in 10 s")
    nvim.run("vim.defer_fn = defer_fn")
    nvim.run("other_server.release()")
    expect_as_before(nvim)


def test_what_is_typed_meanwhile_stays(edit) -> None:
    nvim = typed(edit, "never")
    nvim.keys(":Intarsia nextedit rename<CR>")
    nvim.holds_lines(TEXT)
    nvim.keys("gg0iasync <Esc>ex")
    nvim.holds_lines("async " + TEXT.replace("def", "de"))
    nvim.run("other_server.release()")
    nvim.tells("before: the text has changed")
    nvim.holds_lines("async " + TYPED.replace("def", "de"))
    stop(nvim)


def test_one_undo_after_a_refusal_takes_the_users_own_edit_back(edit) -> None:
    nvim = typed(edit, "fail")
    nvim.keys(":Intarsia nextedit rename<CR>")
    nvim.tells("this cannot be renamed")
    nvim.holds_lines(TYPED)
    nvim.keys("u")
    nvim.holds_lines(TEXT)
    stop(nvim)


def test_without_a_server_that_can_rename_all_is_as_before(edit) -> None:
    nvim = typed(edit, "incapable")
    nvim.keys("<M-g>")
    nvim.until(SHOWN)
    assert nvim.lua("vim.fn.maparg('grn', 'n', false, true).buffer") != 1
    nvim.keys("<Esc>:Intarsia nextedit rename<CR>")
    nvim.tells("there is nothing to rename everywhere here now")
    nvim.keys(":Intarsia nextedit all<CR>")
    nvim.until("vim.api.nvim_win_get_config(0).relative ~= ''")
    nvim.holds_lines("[x] line 6: print(größe(3, 4))")
    nvim.keys("<CR>")
    stop(nvim)


USE = "from a import area\n\nprint(area(1, 2))\n"
ROW = """vim.api.nvim_buf_get_extmarks(
  0, vim.api.nvim_create_namespace('intarsia.next_edit'), 0, -1, { details = true }
)"""


@pytest.mark.parametrize("answer", ["incapable", "fail"])
def test_where_no_server_renames_the_index_does(edit, tmp_path: Path, answer: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "use.py").write_text(USE)
    nvim = edit("def area(a, b):\n    return a * b\n")
    nvim.run("start_other_server(...)", answer)
    nvim.until("#vim.lsp.get_clients({ bufnr = 0, name = 'other' }) == 1")
    nvim.keys("wcwgröße<Esc>")
    nvim.until("vim.fn.maparg('grn', 'n', false, true).buffer == 1", 60)
    words = "vim.iter({ROW}):map(function(it) return it[4].virt_text[1][1] end):totable()"
    assert nvim.lua(words.replace("{ROW}", ROW)) == [
        " grn renames everywhere, 2 uses in 1 other file"
    ]
    nvim.keys("grn")
    nvim.tells("renamed area to größe in 1 file")
    nvim.keys(f":edit {tmp_path / 'use.py'}<CR>")
    nvim.holds_lines(USE.replace("area", "größe"))
    nvim.keys("<C-o>j")
    nvim.until("vim.fn.maparg('grn', 'n', false, true).buffer ~= 1")
    stop(nvim)
