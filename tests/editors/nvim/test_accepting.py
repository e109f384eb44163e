"""Taking ghost text over: all, a word, a line; undo, repetition, macros, line ends."""

from collections.abc import Callable

from headless_nvim import Neovim

RULES = {
    "rules": [
        ("one =", "alpha.beta(γ) + 2"),
        ("def f():\n", "    first = 'ß'\n    second = 2\n"),
        ("def f():\r\n", "    first = 'ß'\r\n    second = 2\r\n"),
    ],
    "text": "",
}
Edit = Callable[..., Neovim]


def test_all_of_it_is_inserted_with_the_cursor_behind_it(edit: Edit) -> None:
    nvim = edit("def f():\n\nf()\n")
    nvim.keys("jA")
    nvim.shows("    first = 'ß'|    second = 2")
    nvim.keys("<M-l>")
    nvim.holds("def f():|    first = 'ß'|    second = 2|f()")
    assert nvim.lua("vim.api.nvim_win_get_cursor(0)") == [3, 14]


def test_words_are_taken_one_by_one(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    for rest in ("alpha.beta(γ) + 2", ".beta(γ) + 2", "beta(γ) + 2", "(γ) + 2", "γ) + 2", ") + 2"):
        nvim.shows(rest)
        nvim.keys("<M-w>")
    nvim.shows(" + 2")
    nvim.keys("<M-w><M-w>")
    nvim.holds("one = alpha.beta(γ) + 2")


def test_lines_are_taken_one_by_one(edit: Edit) -> None:
    nvim = edit("def f():\n\n")
    nvim.keys("jA")
    nvim.shows("    first = 'ß'|    second = 2")
    nvim.keys("<M-j>")
    nvim.holds("def f():|    first = 'ß'")
    nvim.shows("|    second = 2")
    nvim.keys("<M-j>")
    nvim.holds("def f():|    first = 'ß'|    second = 2")


def test_one_undo_takes_back_what_was_accepted_and_nothing_else(edit: Edit) -> None:
    nvim = edit("def f():\n\n")
    nvim.keys("jA")
    nvim.shows("    first = 'ß'|    second = 2")
    nvim.keys("<M-l>")
    nvim.holds("def f():|    first = 'ß'|    second = 2")
    nvim.keys(" + 3<Esc>")
    nvim.holds("def f():|    first = 'ß'|    second = 2 + 3")
    nvim.keys("u")
    nvim.holds("def f():|    first = 'ß'|    second = 2")
    nvim.keys("u")
    nvim.holds("def f():|")
    nvim.keys("<C-r><C-r>")
    nvim.holds("def f():|    first = 'ß'|    second = 2 + 3")


def test_what_was_typed_before_it_is_an_undo_step_of_its_own(edit: Edit) -> None:
    nvim = edit("x\n")
    nvim.keys("ccone = ")
    nvim.shows("alpha.beta(γ) + 2")
    nvim.keys("<M-l>")
    nvim.holds("one = alpha.beta(γ) + 2")
    nvim.keys("<Esc>u")
    nvim.holds("one = ")
    nvim.keys("u")
    nvim.holds("x")


def test_a_dot_repeats_it_with_what_was_typed_around_it(edit: Edit) -> None:
    nvim = edit("one =\nx\n")
    nvim.keys("A<Space>")
    nvim.shows("alpha.beta(γ) + 2")
    nvim.keys("<M-l>")
    nvim.holds("one = alpha.beta(γ) + 2|x")
    nvim.keys(";<Esc>j.")
    nvim.holds("one = alpha.beta(γ) + 2;|x alpha.beta(γ) + 2;")


def test_keys_typed_right_behind_it_go_behind_it(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("alpha.beta(γ) + 2")
    nvim.keys("<M-l>;<CR>x")
    nvim.holds("one = alpha.beta(γ) + 2;|x")


def test_a_macro_is_recorded_and_run_as_typed(edit: Edit) -> None:
    nvim = edit("one =\none =\n")
    nvim.keys("qqA<Space>")
    nvim.until("vim.fn.reg_recording() == 'q'")
    nvim.keys("7<Esc>q")
    nvim.holds("one = 7|one =")
    nvim.keys("j@q")
    nvim.holds("one = 7|one = 7")


def test_dos_line_ends_stay_dos(edit: Edit) -> None:
    nvim = edit("def f():\r\n\r\nf()\r\n")
    nvim.keys("jA")
    nvim.shows("    first = 'ß'|    second = 2")
    nvim.keys("<M-l>")
    nvim.holds("def f():|    first = 'ß'|    second = 2|f()")
    nvim.keys("<Esc>:write<CR>")
    nvim.until("not vim.bo.modified")
    written = nvim.run("return vim.fn.readblob(vim.fn.expand('%'))")
    assert written == "def f():\r\n    first = 'ß'\r\n    second = 2\r\nf()\r\n"
    nvim.messages()


def test_taken_over_while_the_menu_is_open(edit: Edit) -> None:
    nvim = edit("one = \nalphabet = alphanumeric = 1\n")
    nvim.run("vim.o.completeopt = 'menuone,noselect'")
    nvim.run("require('intarsia.options').current.settings.overMenu = true")
    nvim.keys("A")
    nvim.shows("alpha.beta(γ) + 2")
    nvim.keys("al<C-n>")
    nvim.until("vim.fn.pumvisible() == 1")
    nvim.keys("<M-l>")
    nvim.holds("one = alpha.beta(γ) + 2|alphabet = alphanumeric = 1")
    nvim.run("vim.cmd('set completeopt&')")
    nvim.run("require('intarsia.options').current.settings.overMenu = nil")
