"""Inline edits: what is selected is what is replaced, once, and only while the text is the same."""

import pytest
from headless_nvim import ATTACHED, Neovim
from rule_filler import CAUTION

RULES = {
    "rules": [
        ("one =", "'ß' + 1"),
        ("one = ", "'ß' + 1"),
        ("🎉' +", "größe"),
        ("🎉' + ", "größe"),
        ("slow = ", " ".join(f"+ {number}" for number in range(200))),
        ("slow =", " ".join(f"+ {number}" for number in range(200))),
    ],
    "text": "return 7",
    "step_seconds": 0.05,
}
PROGRESS = """(function()
  local space = vim.api.nvim_create_namespace('intarsia.progress')
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {details = true})) do
    if mark[4].virt_text then return mark[4].virt_text[1][1] end
  end
end)()"""
MAPPED = "vim.fn.maparg('<C-c>', 'n') ~= ''"


HOLES = "def f():\n    ...\n\n\ndef g():\n    ...\n"

# A text, and keys with the text after them.
SCENES = {
    "selected characters are replaced": (
        "one = '🎉' + größe_ß; x\n",
        ("fgvt;:Intarsia fill<CR>", "one = '🎉' + größe; x"),
        ("u", "one = '🎉' + größe_ß; x"),
    ),
    "without a selection it is filled at the cursor": (
        "one = \n",
        ("$:Intarsia fill<CR>", "one = 'ß' + 1"),
    ),
    "the lines around selected lines stay": (
        "def f():\n    a = 1\n    b = 2\n\n\nf()\n",
        ("jVj:Intarsia fill<CR>", "def f():|    return 7|||f()"),
    ),
    "a range of lines is where holes are looked for": (
        HOLES,
        (":5,6Intarsia fillall<CR>", "def f():|    ...|||def g():|    return 7"),
    ),
    # The rule engine's rewrite of a text is the same in capitals.
    "a rewrite replaces the selection": (
        "one = two; x\n",
        ("ftve:Intarsia rewrite 0.8<CR>", "one = TWO; x"),
    ),
}


@pytest.mark.parametrize(("text", "steps"), [(it[0], it[1:]) for it in SCENES.values()], ids=SCENES)
def test_what_is_selected_is_what_is_replaced(edit, text, steps):
    nvim = edit(text)
    for keys, held in steps:
        nvim.keys(keys)
        nvim.holds(held)


@pytest.mark.parametrize(
    ("mode", "text", "keys", "filled"),
    [
        ("i", "one = )", "$i<F2>", "one = 'ß' + 1)"),
        ("x", "one = two; x", "ftve<F2>", "one = 'ß' + 1; x"),
    ],
)
def test_a_mapping_fills_from_insert_and_visual_mode(edit, mode, text, keys, filled):
    nvim = edit(f"{text}\n")
    nvim.run("vim.keymap.set(..., '<F2>', '<Cmd>Intarsia fill<CR>', { buffer = 0 })", mode)
    nvim.keys(keys)
    nvim.holds(filled)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("<C-v>jl:Intarsia fill<CR>", "select characters"),
        (":Intarsia rewrite 2<CR>", "above 0 and up to 1"),
        (":Intarsia instruct<CR>", "say what is to be changed"),
    ],
)
def test_what_cannot_be_done_is_told_with_what_to_do(edit, keys: str, told: str) -> None:
    nvim = edit("one = two\none = two\n")
    nvim.keys(keys)
    nvim.tells(told)
    nvim.holds("one = two|one = two")


def test_all_holes_are_filled_in_one_undo_step(edit) -> None:
    nvim = edit(HOLES)
    nvim.keys(":Intarsia fillall<CR>")
    nvim.holds("def f():|    return 7|||def g():|    return 7")
    nvim.tells("2 of 2 filled")
    nvim.keys("u")
    nvim.holds("def f():|    ...|||def g():|    ...")


def started(edit) -> Neovim:
    nvim = edit("slow = two; x\n")
    nvim.keys("ftve:Intarsia fill<CR>")
    nvim.until(PROGRESS)
    return nvim


def test_progress_is_shown_and_ctrl_c_ends_the_edit(edit) -> None:
    nvim = started(edit)
    assert nvim.lua(MAPPED)
    nvim.keys("<C-c>")
    nvim.tells("cancelled")
    nvim.holds("slow = two; x")
    assert nvim.lua(PROGRESS) is None
    assert not nvim.lua(MAPPED)


def test_a_text_that_has_changed_meanwhile_is_left_alone(edit) -> None:
    nvim = started(edit)
    nvim.keys("ggOy = 1<Esc>")
    nvim.until(f"{PROGRESS} == nil")
    nvim.holds("y = 1|slow = two; x")
    nvim.tells("changed")


def test_a_second_edit_waits_for_the_first(edit) -> None:
    nvim = started(edit)
    nvim.keys(":Intarsia fillall<CR>")
    nvim.tells("another edit runs")
    nvim.keys(":Intarsia cancel<CR>")
    nvim.until(f"{PROGRESS} == nil")
    nvim.tells("cancelled")


def test_an_edit_ends_with_its_server(edit) -> None:
    nvim = started(edit)
    nvim.run("require('intarsia.server').client().rpc.terminate()")
    nvim.until(f"{PROGRESS} == nil")
    nvim.tells("the server has detached")
    assert not nvim.lua(MAPPED)
    nvim.keys(":Intarsia cancel<CR>")
    nvim.tells("no edit runs")
    nvim.keys(":Intarsia restart<CR>")
    nvim.until(ATTACHED)


def test_an_edit_ends_with_its_buffer(edit) -> None:
    nvim = started(edit)
    nvim.keys(":bdelete!<CR>")
    nvim.tells("the server has detached")
    nvim.keys(":Intarsia cancel<CR>")
    nvim.tells("no edit runs")


def test_dos_line_ends_stay_dos(edit) -> None:
    nvim = edit("def f():\r\n    ...\r\n\r\n\r\nf()\r\n")
    nvim.keys(":Intarsia fillall<CR>")
    nvim.holds("def f():|    return 7|||f()")
    assert nvim.lua("vim.bo.fileformat") == "dos"


def test_the_same_edits_are_code_actions(edit) -> None:
    nvim = edit("def f():\n    ...\n")
    nvim.run(
        """
        vim.lsp.buf.code_action({
          apply = true,
          context = { only = { "refactor.rewrite.intarsia.fillAll" }, diagnostics = {} },
        })
        """
    )
    nvim.holds("def f():|    return 7")


def test_an_instruction_edits_the_selected_lines_and_the_model_is_judged_once(edit) -> None:
    nvim = edit("def f():\n    a = 1\n    b = 2\n")
    nvim.keys("jV:Intarsia instruct return 7 instead<CR>")
    nvim.holds("def f():|    return 7|    b = 2")
    nvim.tells(CAUTION)
    nvim.keys("u")
    nvim.holds("def f():|    a = 1|    b = 2")
    nvim.keys("jV:Intarsia instruct return 7 instead<CR>")
    nvim.holds("def f():|    a = 1|    return 7")
