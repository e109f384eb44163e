"""Ghost text: asked for while typing, kept while typed along, cycled, taken away."""

import pytest
from headless_nvim import GHOST_TEXT, LOG

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
Steps = list[tuple[str, str | None]]
FIRST = ("A<Space>", "first + 0")

# A text, keys with the ghost text after them, the last keys, and the text in the end.
SCENES: dict[str, tuple[str, Steps, str, str]] = {
    "it stays while it is typed along": (
        "one =\n",
        [FIRST, ("fir", "st + 0"), ("<BS>", "rst + 0")],
        "",
        "one = fi",
    ),
    "typing something else asks anew": ("one =\n", [FIRST, ("7 + ", "1")], "", "one = 7 + "),
    "next and previous go round": (
        "one =\n",
        [
            FIRST,
            ("<M-n>", "first + 1"),
            ("<M-n>", "first + 2"),
            ("<M-n>", "first + 0"),
            ("<M-p>", "first + 2"),
            ("<M-p>", "first + 1"),
        ],
        "",
        "one = ",
    ),
    "candidates that do not fit what was typed are left out": (
        "one =\n",
        [FIRST, ("<M-n>", "first + 1"), ("first + ", "1"), ("<M-p>", "0"), ("<M-p>", "2")],
        "",
        "one = first + ",
    ),
    "a dismissed one comes back with the next key": (
        "one =\n",
        [FIRST, ("<M-e>", None), ("f", "irst + 0")],
        "",
        "one = f",
    ),
    "leaving insert mode takes it away": ("one =\n", [FIRST, ("<Esc>", None)], "", "one = "),
    "entering insert mode asks where text will go": (
        "one = \nalpha = 1\n",
        [("A", "first + 0")],
        "",
        "one = |alpha = 1",
    ),
    "it is shown in the middle of a line": (
        "x = call() + 1\n",
        [("f)i", "a, b")],
        "<M-l>",
        "x = call(a, b) + 1",
    ),
    "multi-byte text is typed along by characters": (
        "umlaut = 'Grüße 🎉\n",
        [("A", "ö𝄞'"), ("ö", "𝄞'")],
        "<M-w>",
        "umlaut = 'Grüße 🎉ö𝄞'",
    ),
    "an empty buffer can be filled": ("", [("i", "1")], "<M-l>", "1"),
    "a very long line can be filled": (
        f"x = '{'ä' * 15_000}'; one =\n",
        [FIRST, ("fir", "st + 0")],
        "",
        f"x = '{'ä' * 15_000}'; one = fir",
    ),
    "a second window of the buffer changes nothing": (
        "one =\n",
        [(":split<CR>A<Space>", "first + 0")],
        "<M-l><Esc>:only<CR>",
        "one = first + 0",
    ),
}


@pytest.mark.parametrize(("text", "steps", "last", "left"), SCENES.values(), ids=SCENES.keys())
def test_each_key_is_followed_by_its_ghost_text(edit, text, steps, last, left):
    nvim = edit(text)
    nvim.play(*steps)
    nvim.keys(last)
    nvim.holds(left)


def test_it_is_typed_along_over_a_line_end(edit) -> None:
    nvim = edit("def f():\n\nf()\n")
    nvim.run("vim.bo.autoindent = true vim.bo.indentexpr = ''")
    nvim.play(
        ("jA", "    x = 'ß'|    return x"), ("    x = 'ß'", "|    return x"), ("<CR>", "return x")
    )
    nvim.holds("def f():|    x = 'ß'|    |f()")


def test_text_behind_the_cursor_that_changes_makes_it_ask_anew(edit) -> None:
    nvim = edit("one =\n")
    nvim.play(FIRST)
    num_filled = f"select(2, ({LOG}):gsub('filled in', ''))"
    filled = nvim.lua(num_filled)
    nvim.run("vim.api.nvim_buf_set_text(0, 0, 6, 0, 6, { ' # why' })")
    nvim.keys("f")
    nvim.until(f"{num_filled} > {filled}")


def test_it_is_shown_beside_the_menu_until_a_word_is_selected(edit) -> None:
    nvim = edit("one = \nfirefly = fireworks = 1\n")
    nvim.run("vim.o.completeopt = 'menuone,noselect'")
    nvim.run("require('intarsia.options').current.settings.overMenu = true")
    nvim.play(("A", "first + 0"))
    nvim.keys("fi<C-n>")
    nvim.until("vim.fn.pumvisible() == 1")
    nvim.play(("", "rst + 0"), ("<C-n>", None), ("<C-p>", "rst + 0"), ("<C-e>", "rst + 0"))
    nvim.run("vim.cmd('set completeopt&')")
    nvim.run("require('intarsia.options').current.settings.overMenu = nil")


def test_tabs_are_drawn_as_wide_as_they_will_be(edit) -> None:
    nvim = edit("def g():\n\n")
    nvim.run("vim.bo.tabstop = 4 vim.bo.expandtab = false")
    nvim.play(("jA", "    if a:|        pass"))
    nvim.keys("<M-l>")
    nvim.holds("def g():|\tif a:|\t\tpass")


def test_nothing_is_drawn_where_there_is_no_suggestion(edit) -> None:
    nvim = edit("empty =\n")
    nvim.keys("A<Space>")
    nvim.until("vim.tbl_get(require('intarsia').info() or {}, 'last', 'shown') == false")
    assert nvim.lua(GHOST_TEXT) is None


def test_nothing_is_shown_beyond_the_end_of_a_line(edit) -> None:
    nvim = edit("one =\n")
    nvim.run("vim.o.virtualedit = 'all'")
    nvim.play(FIRST, ("<Right><Right>", None))
    nvim.run("vim.cmd('set virtualedit&')")


def test_nothing_is_shown_in_a_buffer_that_cannot_be_changed(edit) -> None:
    nvim = edit("one = \n")
    nvim.play(("A", "first + 0"))
    nvim.run("vim.bo.modifiable = false")
    nvim.play(("<Left>", None))


def test_it_is_off_while_switched_off_and_back_when_switched_on(edit) -> None:
    nvim = edit("one =\n")
    nvim.play(FIRST)
    nvim.run("require('intarsia').toggle()")
    nvim.shows(None)
    assert nvim.lua("require('intarsia').status()") == "intarsia: off"
    nvim.run("require('intarsia').toggle()")
    nvim.shows("first + 0")


def test_it_is_typed_along_in_a_line_that_was_folded(edit) -> None:
    nvim = edit("def f():\n\nf()\n")
    nvim.run("vim.wo.foldmethod = 'manual' vim.cmd('1,2fold')")
    nvim.keys("jjkA<CR>")
    nvim.until(GHOST_TEXT)
    nvim.keys("<M-l>")
    nvim.until("vim.api.nvim_buf_line_count(0) > 3")
