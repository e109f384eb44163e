"""Manners: when no ghost text comes by itself, and what ends the silence."""

from collections.abc import Callable

from headless_nvim import GHOST_TEXT, LOG, Neovim

RULES = {
    "rules": [
        ("def f():\n", "    x = 'ß'\n    return x\n"),
        ("for item in", "items"),
    ],
    "text": "1",
}
Edit = Callable[..., Neovim]


def paste(nvim: Neovim, text: str) -> None:
    nvim.run("vim.api.nvim_paste(...)", text, False, -1)


def test_nothing_right_after_a_deletion_until_something_is_typed(edit: Edit) -> None:
    nvim = edit("one = ab\n")
    nvim.keys("A<BS>")
    nvim.is_silent("text was just deleted here")
    nvim.keys("<BS>")
    nvim.is_silent("text was just deleted here")
    nvim.keys("<Space>")
    nvim.shows("1")


def test_nothing_right_after_undo_and_redo(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A two + ")
    nvim.shows("1")  # changes of one moment are sent together
    nvim.keys("<Esc>u")
    nvim.holds("one =")
    nvim.keys("A")
    nvim.is_silent("undone or redone")
    nvim.keys("<Esc><C-r>")
    nvim.holds("one = two + ")
    nvim.keys("A")
    nvim.is_silent("undone or redone")
    nvim.keys("3 + ")
    nvim.shows("1")


def test_nothing_right_after_a_paste(edit: Edit) -> None:
    nvim = edit("one = 1\n")
    nvim.keys("A")
    paste(nvim, "\nfor it in items:\n    print(it, one)")
    nvim.is_silent("text was just pasted here")
    nvim.keys("<CR>x = ")
    nvim.shows("1")


def test_a_long_paste_within_a_line_is_one_too_and_a_short_one_is_not(edit: Edit) -> None:
    nvim = edit("one = \n")
    nvim.keys("A")
    paste(nvim, "a_name_of_some_length + another_of_such_length + ")
    nvim.is_silent("text was just pasted here")
    nvim = edit("one = \n", "b.py")
    nvim.keys("A")
    paste(nvim, "a_short_name + ")
    nvim.shows("1")


def test_nothing_right_after_replace_all(edit: Edit) -> None:
    nvim = edit("a = old\nb = old\nc = old\n")
    nvim.keys(":%s/old/new/<CR>ggA")
    nvim.is_silent("as a formatter does")
    nvim.keys(" + ")
    nvim.shows("1")


def test_nothing_right_after_a_formatter(edit: Edit) -> None:
    nvim = edit("a=1\nb=2\nc=3\n")
    nvim.run(
        """
        local edits = {}
        for line, text in ipairs({ 'a = 10', 'b = 20', 'c = 30' }) do
          local from, to = { line = line - 1, character = 0 }, { line = line - 1, character = 3 }
          table.insert(edits, { range = { start = from, ['end'] = to }, newText = text })
        end
        vim.lsp.util.apply_text_edits(edits, vim.api.nvim_get_current_buf(), 'utf-16')
        """
    )
    nvim.keys("jA")
    nvim.is_silent("as a formatter does")
    nvim.keys(" + ")
    nvim.shows("1")


def test_an_accepted_suggestion_is_no_paste(edit: Edit) -> None:
    nvim = edit("def f():\n\nf()\n")
    nvim.keys("jA")
    nvim.shows("    x = 'ß'|    return x")
    pasted = nvim.lua(LOG).count("pasted")
    nvim.keys("<M-l>")
    nvim.holds("def f():|    x = 'ß'|    return x|f()")
    nvim.keys("<CR>x = ")
    nvim.shows("1")
    assert nvim.lua(LOG).count("pasted") == pasted


def test_comments_and_strings_are_the_users_own(edit: Edit) -> None:
    nvim = edit("x = 1  # why\n")
    nvim.keys("A<Space>")
    nvim.is_silent("the cursor is in a comment")
    nvim = edit("x = 'why\n", "b.py")
    nvim.keys("A<Space>")
    nvim.is_silent("the cursor is in a string")


def test_code_in_a_string_is_code(edit: Edit) -> None:
    nvim = edit("x = f'why {}'\n")
    nvim.keys("$hi")
    nvim.shows("1")
    nvim.keys("<Right><Space>")
    nvim.is_silent("the cursor is in a string")


def test_documentation_gets_something_until_it_has_a_word(edit: Edit) -> None:
    nvim = edit('def f():\n    """"""\n    return 1\n')
    nvim.keys('jf"3li')
    nvim.shows("1")
    nvim.keys("Why ")
    nvim.is_silent("the cursor is in a comment")


def test_comments_get_something_in_a_language_that_wants_it(edit: Edit) -> None:
    nvim = edit("x = 1  # why\n")
    nvim.change_settings(languages={"python": {"inComments": "always"}})
    nvim.keys("A<Space>")
    nvim.shows("1")
    nvim = edit("x = 1  // why\n", "b.js")
    nvim.keys("A<Space>")
    nvim.is_silent("the cursor is in a comment")
    nvim.change_settings(languages={"python": {"inComments": "documentation"}})


def test_nothing_beside_an_open_menu(edit: Edit) -> None:
    nvim = edit("one = \nfirefly = fireworks = 1\n")
    nvim.run("vim.o.completeopt = 'menuone,noselect'")
    nvim.keys("A")
    nvim.shows("1")
    nvim.keys("fi<C-n>")
    nvim.until("vim.fn.pumvisible() == 1")
    nvim.shows(None)
    nvim.keys("<C-e>")
    nvim.until("vim.fn.pumvisible() == 0")
    nvim.keys("<Space>+ ")
    nvim.shows("1")
    nvim.change_settings(overMenu=True)
    nvim.keys("fi<C-n>")
    nvim.until("vim.fn.pumvisible() == 1")
    nvim.until(GHOST_TEXT)
    nvim.change_settings(overMenu=False)
    nvim.run("vim.cmd('set completeopt&')")


def test_nothing_in_an_open_snippet_unless_it_is_asked_for(edit: Edit) -> None:
    nvim = edit("\n")
    nvim.keys("i")
    nvim.shows("1")
    nvim.run("vim.snippet.expand('for ${1:item} in ${2:items}:')")
    nvim.keys("a")
    nvim.until("vim.api.nvim_get_current_line():find('for a', 1, true)")
    nvim.shows(None)
    nvim.keys("<M-n>")
    nvim.until(GHOST_TEXT)
    nvim.run("vim.snippet.stop()")


def test_silence_in_a_line_after_three_dismissals_until_it_is_another_line(edit: Edit) -> None:
    nvim = edit("one =\n\n")
    nvim.keys("A<Space>")
    for typed in ("a + ", "b + ", "c + "):
        nvim.shows("1")
        nvim.keys("<M-e>")
        nvim.shows(None)
        nvim.keys(typed)
    nvim.is_silent("dismissed 3 times")
    nvim.keys("<Esc>jA")
    nvim.shows("1")
    nvim.keys("<Esc>kAsum(values) + len(others) + ")
    nvim.shows("1")


def test_a_request_by_a_key_is_answered_in_any_silence(edit: Edit) -> None:
    nvim = edit("x = ab\n")
    nvim.keys("A<BS>")
    nvim.is_silent("text was just deleted here")
    nvim.keys("<M-n>")
    nvim.until(GHOST_TEXT)


def test_what_is_accepted_and_taken_back_three_times_counts_as_dismissed(edit: Edit) -> None:
    nvim = edit("for item in\n")
    nvim.keys("A<Space>")
    for _ in range(3):
        nvim.shows("items")
        nvim.keys("<M-l>")
        nvim.holds("for item in items")
        nvim.keys("<Space>")
        nvim.shows("1")  # so the server has the accepted text
        nvim.keys("<BS><C-w>")
        nvim.holds("for item in ")
        nvim.keys("<M-n>")  # which is answered after a deletion, too
    nvim.shows("items")
    nvim.keys("a + ")
    nvim.is_silent("dismissed 3 times")
