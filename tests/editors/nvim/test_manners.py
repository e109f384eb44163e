"""Manners: when no ghost text comes by itself, and what ends the silence."""

from headless_nvim import GHOST_TEXT, LOG

RULES = {
    "rules": [("def f():\n", "    x = 'ß'\n    return x\n"), ("for item in", "items")],
    "text": "1",
}


def test_what_neovim_sends_for_each_kind_of_change_is_understood(edit) -> None:
    nvim = edit("a = old\nb = old\nc = old\n")
    nvim.keys("A<BS>")
    nvim.is_silent("text was just deleted here")
    nvim.keys("<M-n>")  # a key is always answered
    nvim.until(GHOST_TEXT)
    nvim.play(("<Space>+ ", "1"))
    nvim.keys("<Esc>uA")
    nvim.is_silent("undone or redone")
    nvim.keys("<CR>")
    pasted = "for it in items:\n    print(it, one)"
    nvim.run("vim.api.nvim_paste(...)", pasted, False, -1)
    nvim.is_silent("text was just pasted here")
    nvim.keys("<Esc>:%s/old/new/<CR>ggA")
    nvim.is_silent("as a formatter does")
    nvim.play((" + ", "1"))


def test_an_accepted_suggestion_is_no_paste(edit) -> None:
    nvim = edit("def f():\n\nf()\n")
    nvim.play(("jA", "    x = 'ß'|    return x"))
    pasted = nvim.lua(LOG).count("pasted")
    nvim.keys("<M-l>")
    nvim.holds("def f():|    x = 'ß'|    return x|f()")
    nvim.play(("<CR>x = ", "1"))
    assert nvim.lua(LOG).count("pasted") == pasted


def test_nothing_beside_an_open_menu(edit) -> None:
    nvim = edit("one = \nfirefly = fireworks = 1\n")
    nvim.run("vim.o.completeopt = 'menuone,noselect'")
    nvim.play(("A", "1"))
    nvim.keys("fi<C-n>")
    nvim.until("vim.fn.pumvisible() == 1")
    nvim.shows(None)
    nvim.keys("<C-e>")
    nvim.until("vim.fn.pumvisible() == 0")
    nvim.play(("<Space>+ ", "1"))
    nvim.change_settings(overMenu=True)
    nvim.keys("fi<C-n>")
    nvim.until("vim.fn.pumvisible() == 1")
    nvim.until(GHOST_TEXT)
    nvim.change_settings(overMenu=False)
    nvim.run("vim.cmd('set completeopt&')")


def test_nothing_in_an_open_snippet_unless_it_is_asked_for(edit) -> None:
    nvim = edit("\n")
    nvim.play(("i", "1"))
    nvim.run("vim.snippet.expand('for ${1:item} in ${2:items}:')")
    nvim.keys("a")
    nvim.until("vim.api.nvim_get_current_line():find('for a', 1, true)")
    nvim.shows(None)
    nvim.keys("<M-n>")
    nvim.until(GHOST_TEXT)
    nvim.run("vim.snippet.stop()")


def test_silence_in_a_line_after_three_dismissals_until_it_is_another_line(edit) -> None:
    nvim = edit("one =\n\n")
    nvim.keys("A<Space>")
    for typed in ("a + ", "b + ", "c + "):
        nvim.shows("1")
        nvim.keys("<M-e>")
        nvim.shows(None)
        nvim.keys(typed)
    nvim.is_silent("dismissed 3 times")
    nvim.play(("<Esc>jA", "1"), ("<Esc>kAsum(values) + len(others) + ", "1"))
