"""Inline edits: what is selected is what is replaced, once, and only while the text is the same."""

from collections.abc import Callable

from headless_nvim import ATTACHED, Neovim

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
Edit = Callable[..., Neovim]


def test_selected_characters_are_replaced(edit: Edit) -> None:
    nvim = edit("one = '🎉' + größe_ß; x\n")
    nvim.keys("fgvt;:Intarsia fill<CR>")
    nvim.holds("one = '🎉' + größe; x")
    nvim.keys("u")
    nvim.holds("one = '🎉' + größe_ß; x")


def test_without_a_selection_it_is_filled_at_the_cursor(edit: Edit) -> None:
    nvim = edit("one = \n")
    nvim.keys("$:Intarsia fill<CR>")
    nvim.holds("one = 'ß' + 1")


def test_from_insert_mode_it_is_filled_at_the_cursor(edit: Edit) -> None:
    nvim = edit("one = )\n")
    nvim.run("vim.keymap.set('i', '<F2>', '<Cmd>Intarsia fill<CR>', { buffer = 0 })")
    nvim.keys("$i<F2>")
    nvim.holds("one = 'ß' + 1)")


def test_a_mapping_in_visual_mode_needs_no_range(edit: Edit) -> None:
    nvim = edit("one = two; x\n")
    nvim.run("vim.keymap.set('x', 'gf', '<Cmd>Intarsia fill<CR>')")
    nvim.keys("ftvegf")
    nvim.holds("one = 'ß' + 1; x")
    nvim.keys("<Esc>")


def test_selected_lines_are_replaced_and_the_lines_around_them_stay(edit: Edit) -> None:
    nvim = edit("def f():\n    a = 1\n    b = 2\n\n\nf()\n")
    nvim.keys("jVj:Intarsia fill<CR>")
    nvim.holds("def f():|    return 7|||f()")


def test_a_block_is_refused_with_what_to_do(edit: Edit) -> None:
    nvim = edit("one = two\none = two\n")
    nvim.keys("<C-v>jl:Intarsia fill<CR>")
    nvim.tells("select characters")
    nvim.holds("one = two|one = two")


def test_all_holes_are_filled_in_one_undo_step(edit: Edit) -> None:
    nvim = edit("def f():\n    ...\n\n\ndef g():\n    ...\n")
    nvim.keys(":Intarsia fillall<CR>")
    nvim.holds("def f():|    return 7|||def g():|    return 7")
    nvim.tells("2 of 2 filled")
    nvim.keys("u")
    nvim.holds("def f():|    ...|||def g():|    ...")


def test_a_range_of_lines_is_where_holes_are_looked_for(edit: Edit) -> None:
    nvim = edit("def f():\n    ...\n\n\ndef g():\n    ...\n")
    nvim.keys(":5,6Intarsia fillall<CR>")
    nvim.holds("def f():|    ...|||def g():|    return 7")


def test_progress_is_shown_and_ctrl_c_ends_the_edit(edit: Edit) -> None:
    nvim = edit("slow = two; x\n")
    nvim.keys("ftve:Intarsia fill<CR>")
    nvim.until(PROGRESS)
    assert nvim.lua(MAPPED)
    nvim.keys("<C-c>")
    nvim.tells("cancelled")
    nvim.holds("slow = two; x")
    assert nvim.lua(PROGRESS) is None
    assert not nvim.lua(MAPPED)


def test_a_text_that_has_changed_meanwhile_is_left_alone(edit: Edit) -> None:
    nvim = edit("slow = two; x\n")
    nvim.keys("ftve:Intarsia fill<CR>")
    nvim.until(PROGRESS)
    nvim.keys("ggOy = 1<Esc>")
    nvim.until(f"{PROGRESS} == nil")
    nvim.holds("y = 1|slow = two; x")
    nvim.tells("changed")


def test_a_second_edit_waits_for_the_first(edit: Edit) -> None:
    nvim = edit("slow = two; x\n")
    nvim.keys("ftve:Intarsia fill<CR>")
    nvim.until(PROGRESS)
    nvim.keys(":Intarsia fillall<CR>")
    nvim.tells("another edit runs")
    nvim.keys(":Intarsia cancel<CR>")
    nvim.until(f"{PROGRESS} == nil")
    nvim.tells("cancelled")


def test_an_edit_ends_with_its_server(edit: Edit) -> None:
    nvim = edit("slow = two; x\n")
    nvim.keys("ftve:Intarsia fill<CR>")
    nvim.until(PROGRESS)
    nvim.run("require('intarsia.server').client().rpc.terminate()")
    nvim.until(f"{PROGRESS} == nil")
    nvim.tells("the server has detached")
    assert not nvim.lua(MAPPED)
    nvim.keys(":Intarsia cancel<CR>")
    nvim.tells("no edit runs")
    nvim.keys(":Intarsia restart<CR>")
    nvim.until(ATTACHED)


def test_an_edit_ends_with_its_buffer(edit: Edit) -> None:
    nvim = edit("slow = two; x\n")
    nvim.keys("ftve:Intarsia fill<CR>")
    nvim.until(PROGRESS)
    nvim.keys(":bdelete!<CR>")
    nvim.tells("the server has detached")
    nvim.keys(":Intarsia cancel<CR>")
    nvim.tells("no edit runs")


def test_a_wrong_noise_is_refused(edit: Edit) -> None:
    nvim = edit("one = two\n")
    nvim.keys(":Intarsia rewrite 2<CR>")
    nvim.tells("above 0 and up to 1")


def test_a_rewrite_replaces_the_selection(edit: Edit) -> None:
    # The rule engine's rewrite of a text is the same in capitals.
    nvim = edit("one = two; x\n")
    nvim.keys("ftve:Intarsia rewrite 0.8<CR>")
    nvim.holds("one = TWO; x")


def test_dos_line_ends_stay_dos(edit: Edit) -> None:
    nvim = edit("def f():\r\n    ...\r\n\r\n\r\nf()\r\n")
    nvim.keys(":Intarsia fillall<CR>")
    nvim.holds("def f():|    return 7|||f()")
    assert nvim.lua("vim.bo.fileformat") == "dos"


def test_the_same_edits_are_code_actions(edit: Edit) -> None:
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
