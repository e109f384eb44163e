"""Taking ghost text over: all, a word, a line, what is sure; undo, repetition, line ends."""

import pytest

RULES = {
    "rules": [
        ("one =", "alpha.beta(γ) + 2"),
        ("two =", "alpha + maybe * 2"),
        ("three =", "maybe + 2"),
        ("four =", "value_{alternative} + 1"),
        ("def f():\n", "    first = 'ß'\n    second = 2\n"),
        ("def f():\r\n", "    first = 'ß'\r\n    second = 2\r\n"),
    ],
    "text": "",
    "unsure": ["maybe"],
}
OPTIONS = {"settings": {"debounceMs": 0, "deadlineMs": 60_000, "showThreshold": "0"}}
DIMMED = """(function()
  local space = vim.api.nvim_create_namespace('intarsia')
  local mark = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {details = true})[1]
  for _, chunk in ipairs(mark and mark[4].virt_text or {}) do
    if chunk[2] == 'IntarsiaUnsure' then return chunk[1] end
  end
end)()"""
Scene = tuple[str, list[tuple[str, str | None]], list[tuple[str, str]]]
LINE, BLOCK = "alpha.beta(γ) + 2", "    first = 'ß'|    second = 2"
TAKEN = f"def f():|{BLOCK}"

# A text, keys with the ghost text after them, and keys with the text after them.
SCENES: dict[str, Scene] = {
    "words are taken one by one": (
        "one =\n",
        [
            ("A<Space>", LINE),
            ("<M-w>", ".beta(γ) + 2"),
            ("<M-w>", "beta(γ) + 2"),
            ("<M-w>", "(γ) + 2"),
            ("<M-w>", "γ) + 2"),
            ("<M-w>", ") + 2"),
            ("<M-w>", " + 2"),
        ],
        [("<M-w><M-w>", f"one = {LINE}")],
    ),
    "lines are taken one by one": (
        "def f():\n\n",
        [("jA", BLOCK), ("<M-j>", "|    second = 2")],
        [("", "def f():|    first = 'ß'"), ("<M-j>", TAKEN)],
    ),
    "one undo takes back what was accepted and nothing else": (
        "def f():\n\n",
        [("jA", BLOCK)],
        [
            ("<M-l>", TAKEN),
            (" + 3<Esc>", f"{TAKEN} + 3"),
            ("u", TAKEN),
            ("u", "def f():|"),
            ("<C-r><C-r>", f"{TAKEN} + 3"),
        ],
    ),
    "what was typed before it is an undo step of its own": (
        "x\n",
        [("ccone = ", LINE)],
        [("<M-l>", f"one = {LINE}"), ("<Esc>u", "one = "), ("u", "x")],
    ),
    "a dot repeats it with what was typed around it": (
        "one =\nx\n",
        [("A<Space>", LINE)],
        [("<M-l>", f"one = {LINE}|x"), (";<Esc>j.", f"one = {LINE};|x {LINE};")],
    ),
    "keys typed right behind it go behind it": (
        "one =\n",
        [("A<Space>", LINE)],
        [("<M-l>;<CR>x", f"one = {LINE};|x")],
    ),
    "what is sure stops before the first unsure token": (
        "two =\n",
        [("A<Space>", "alpha + maybe * 2"), ("al<M-s>", " maybe * 2")],
        [("", "two = alpha +"), ("<M-s><M-l>", "two = alpha + maybe * 2")],
    ),
    "nothing is sure where the first token is unsure": (
        "three =\n",
        [("A<Space>", "maybe + 2"), ("<M-s>", "maybe + 2")],
        [("", "three = ")],
    ),
}


@pytest.mark.parametrize(("text", "shown", "held"), SCENES.values(), ids=SCENES.keys())
def test_each_key_takes_its_part(edit, text, shown, held):
    nvim = edit(text)
    nvim.play(*shown)
    for keys, text_after in held:
        nvim.keys(keys)
        nvim.holds(text_after)


def test_all_of_it_is_inserted_with_the_cursor_behind_it(edit) -> None:
    nvim = edit("def f():\n\nf()\n")
    nvim.play(("jA", BLOCK))
    nvim.keys("<M-l>")
    nvim.holds(f"{TAKEN}|f()")
    assert nvim.lua("vim.api.nvim_win_get_cursor(0)") == [3, 14]


def test_an_unsure_token_is_dimmed_also_while_it_is_typed_along(edit) -> None:
    nvim = edit("two =\n")
    nvim.play(("A<Space>", "alpha + maybe * 2"))
    assert nvim.lua(DIMMED) == " maybe"
    nvim.play(("alpha + ma", "ybe * 2"))
    assert nvim.lua(DIMMED) == "ybe"


def test_a_macro_is_recorded_and_run_as_typed(edit) -> None:
    nvim = edit("one =\none =\n")
    nvim.keys("qqA<Space>")
    nvim.until("vim.fn.reg_recording() == 'q'")
    nvim.keys("7<Esc>q")
    nvim.holds("one = 7|one =")
    nvim.keys("j@q")
    nvim.holds("one = 7|one = 7")


def test_dos_line_ends_stay_dos(edit) -> None:
    nvim = edit("def f():\r\n\r\nf()\r\n")
    nvim.play(("jA", BLOCK))
    nvim.keys("<M-l>")
    nvim.holds(f"{TAKEN}|f()")
    nvim.keys("<Esc>:write<CR>")
    nvim.until("not vim.bo.modified")
    written = nvim.run("return vim.fn.readblob(vim.fn.expand('%'))")
    assert written == "def f():\r\n    first = 'ß'\r\n    second = 2\r\nf()\r\n"
    nvim.messages()


def test_taken_over_while_the_menu_is_open(edit) -> None:
    nvim = edit("one = \nalphabet = alphanumeric = 1\n")
    nvim.run("vim.o.completeopt = 'menuone,noselect'")
    nvim.run("require('intarsia.options').current.settings.overMenu = true")
    nvim.play(("A", LINE))
    nvim.keys("al<C-n>")
    nvim.until("vim.fn.pumvisible() == 1")
    nvim.keys("<M-l>")
    nvim.holds(f"one = {LINE}|alphabet = alphanumeric = 1")
    nvim.run("vim.cmd('set completeopt&')")
    nvim.run("require('intarsia.options').current.settings.overMenu = nil")


CHOOSE = """
vim.ui.select = function(items, options, on_choice)
  _G.listed, _G.choose = vim.tbl_map(options.format_item, items), function(number)
    on_choice(items[number])
  end
end"""


@pytest.mark.parametrize("line", ["four =", "é four ="])
def test_one_of_several_suggestions_is_chosen_in_a_list(edit, line: str) -> None:
    nvim = edit(f"{line}\n")
    nvim.run(CHOOSE + "\n_G.listed = nil")
    nvim.play(("A<Space>", "value_0 + 1"))
    nvim.keys("<Cmd>Intarsia choose<CR>")
    nvim.until("#(_G.listed or {}) == 3 and _G.listed[2] == 'value_1 + 1'")
    nvim.run("_G.choose(2)")
    nvim.holds(f"{line} value_1 + 1")
    nvim.keys("!<Esc>")
    nvim.holds(f"{line} value_1 + 1!")
    nvim.run("_G.choose(1)")
    nvim.holds(f"{line} value_1 + 1!")
    assert "the text has changed" in nvim.messages()
    nvim.keys("u")
    nvim.holds(line)


def test_where_there_is_no_suggestion_the_reason_is_told(edit) -> None:
    nvim = edit("nothing\n")
    nvim.run(CHOOSE + "\n_G.listed = nil")
    nvim.keys("A<Cmd>Intarsia choose<CR>")
    nvim.until("vim.fn.execute('messages'):find('intarsia: ', 1, true)")
    assert nvim.lua("_G.listed == nil")
    nvim.messages()
