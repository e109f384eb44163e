"""Ghost text: asked for while typing, kept while typed along, cycled, taken away."""

from collections.abc import Callable

from headless_nvim import GHOST_TEXT, LOG, Neovim

RULES = {
    "rules": [
        ("one =", "first + {alternative}"),
        ("def f():\n", "    x = 'ß'\n    return x\n"),
        ("def g():\n", "\tif a:\n\t\tpass\n"),
        ("empty =", ""),
        ("x = call", "a, b)"),
        ("umlaut = 'Grüße 🎉", "ö𝄞'"),
    ],
    "text": "1",
}
OPTIONS = {"settings": {"debounceMs": 0, "deadlineMs": 60_000, "inStrings": True}}
Edit = Callable[..., Neovim]


def test_it_appears_while_typing_and_stays_while_it_is_typed_along(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("first + 0")
    nvim.keys("fir")
    nvim.shows("st + 0")
    nvim.keys("<BS>")
    nvim.shows("rst + 0")
    nvim.holds("one = fi")


def test_typing_something_else_takes_it_away_and_asks_anew(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("first + 0")
    nvim.keys("7 + ")
    nvim.shows("1")


def test_it_is_typed_along_over_a_line_end(edit: Edit) -> None:
    nvim = edit("def f():\n\nf()\n")
    nvim.run("vim.bo.autoindent = true vim.bo.indentexpr = ''")
    nvim.keys("jA")
    nvim.shows("    x = 'ß'|    return x")
    nvim.keys("    x = 'ß'")
    nvim.shows("|    return x")
    nvim.keys("<CR>")
    nvim.shows("return x")
    nvim.holds("def f():|    x = 'ß'|    |f()")


def test_next_and_previous_show_one_candidate_after_the_other(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("first + 0")
    for key, number in (("<M-n>", 1), ("<M-n>", 2), ("<M-n>", 0), ("<M-p>", 2), ("<M-p>", 1)):
        nvim.keys(key)
        nvim.shows(f"first + {number}")


def test_candidates_that_do_not_fit_what_was_typed_are_left_out(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("first + 0")
    nvim.keys("<M-n>")
    nvim.shows("first + 1")
    nvim.keys("first + ")
    nvim.shows("1")
    nvim.keys("<M-p>")
    nvim.shows("0")
    nvim.keys("<M-p>")
    nvim.shows("2")


def test_a_dismissed_one_comes_back_with_the_next_key_only(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("first + 0")
    nvim.keys("<M-e>")
    nvim.shows(None)
    nvim.keys("f")
    nvim.shows("irst + 0")


def test_leaving_insert_mode_takes_it_away(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("first + 0")
    nvim.keys("<Esc>")
    nvim.shows(None)
    nvim.holds("one = ")


def test_entering_insert_mode_asks_at_the_place_where_text_will_go(edit: Edit) -> None:
    nvim = edit("one = \nalpha = 1\n")
    nvim.keys("A")
    nvim.shows("first + 0")


def test_it_is_shown_in_the_middle_of_a_line(edit: Edit) -> None:
    nvim = edit("x = call() + 1\n")
    nvim.keys("f)i")
    nvim.shows("a, b")
    nvim.keys("<M-l>")
    nvim.holds("x = call(a, b) + 1")


def test_text_behind_the_cursor_that_changes_makes_it_ask_anew(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("first + 0")
    num_filled = f"select(2, ({LOG}):gsub('filled in', ''))"
    filled = nvim.lua(num_filled)
    nvim.run("vim.api.nvim_buf_set_text(0, 0, 6, 0, 6, { ' # why' })")
    nvim.keys("f")
    nvim.until(f"{num_filled} > {filled}")


def test_it_is_shown_beside_the_menu_until_a_word_is_selected(edit: Edit) -> None:
    nvim = edit("one = \nfirefly = fireworks = 1\n")
    nvim.run("vim.o.completeopt = 'menuone,noselect'")
    nvim.run("require('intarsia.options').current.settings.overMenu = true")
    nvim.keys("A")
    nvim.shows("first + 0")
    nvim.keys("fi<C-n>")
    nvim.until("vim.fn.pumvisible() == 1")
    nvim.shows("rst + 0")
    nvim.keys("<C-n>")
    nvim.shows(None)
    nvim.keys("<C-p>")
    nvim.shows("rst + 0")
    nvim.keys("<C-e>")
    nvim.shows("rst + 0")
    nvim.run("vim.cmd('set completeopt&')")
    nvim.run("require('intarsia.options').current.settings.overMenu = nil")


def test_tabs_are_drawn_as_wide_as_they_will_be(edit: Edit) -> None:
    nvim = edit("def g():\n\n")
    nvim.run("vim.bo.tabstop = 4 vim.bo.expandtab = false")
    nvim.keys("jA")
    nvim.shows("    if a:|        pass")
    nvim.keys("<M-l>")
    nvim.holds("def g():|\tif a:|\t\tpass")


def test_multi_byte_text_is_typed_along_by_characters(edit: Edit) -> None:
    nvim = edit("umlaut = 'Grüße 🎉\n")
    nvim.keys("A")
    nvim.shows("ö𝄞'")
    nvim.keys("ö")
    nvim.shows("𝄞'")
    nvim.keys("<M-w>")
    nvim.holds("umlaut = 'Grüße 🎉ö𝄞'")


def test_nothing_is_drawn_where_there_is_no_suggestion(edit: Edit) -> None:
    nvim = edit("empty =\n")
    nvim.keys("A<Space>")
    nvim.until("vim.tbl_get(require('intarsia').info() or {}, 'last', 'shown') == false")
    assert nvim.lua(GHOST_TEXT) is None


def test_an_empty_buffer_can_be_filled(edit: Edit) -> None:
    nvim = edit("")
    nvim.keys("i")
    nvim.shows("1")
    nvim.keys("<M-l>")
    nvim.holds("1")


def test_a_very_long_line_can_be_filled(edit: Edit) -> None:
    nvim = edit("x = '" + "ä" * 15_000 + "'; one =\n")
    nvim.keys("A<Space>")
    nvim.shows("first + 0")
    nvim.keys("fir")
    nvim.shows("st + 0")


def test_nothing_is_shown_beyond_the_end_of_a_line(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.run("vim.o.virtualedit = 'all'")
    nvim.keys("A<Space>")
    nvim.shows("first + 0")
    nvim.keys("<Right><Right>")
    nvim.shows(None)
    nvim.run("vim.cmd('set virtualedit&')")


def test_nothing_is_shown_in_a_buffer_that_cannot_be_changed(edit: Edit) -> None:
    nvim = edit("one = \n")
    nvim.keys("A")
    nvim.shows("first + 0")
    nvim.run("vim.bo.modifiable = false")
    nvim.keys("<Left>")
    nvim.shows(None)


def test_it_is_off_while_switched_off_and_back_when_switched_on(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("first + 0")
    nvim.run("require('intarsia').toggle()")
    nvim.shows(None)
    assert nvim.lua("require('intarsia').status()") == "intarsia: off"
    nvim.run("require('intarsia').toggle()")
    nvim.shows("first + 0")


def test_a_second_window_of_the_buffer_changes_nothing(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys(":split<CR>A<Space>")
    nvim.shows("first + 0")
    nvim.keys("<M-l>")
    nvim.holds("one = first + 0")
    nvim.keys("<Esc>:only<CR>")


def test_it_is_typed_along_in_a_line_that_was_folded(edit: Edit) -> None:
    nvim = edit("def f():\n\nf()\n")
    nvim.run("vim.wo.foldmethod = 'manual' vim.cmd('1,2fold')")
    nvim.keys("jjkA<CR>")
    nvim.until(GHOST_TEXT)
    nvim.keys("<M-l>")
    nvim.until("vim.api.nvim_buf_line_count(0) > 3")
