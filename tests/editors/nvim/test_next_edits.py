"""Next edits: marked, shown as a difference, accepted one after the other, dismissed, applied."""

from pathlib import Path

from headless_nvim import Neovim
from scripted_next_edits import rule

RULES = {
    "next_edits": [
        rule("(area(1", "(size(1"),
        rule("(area(3", "(größe(3"),
        rule("    print(area(5, 6))", "    width = 5\n    print(size(width, 6))"),
        rule("import os", "import os\nimport sys"),
        rule("(url, 30)", "(url, timeout=30)"),
    ],
    "rules": [("ghost =", "text")],
    "text": "",
}
OPTIONS = {"settings": {"debounceMs": 0, "deadlineMs": 60_000, "fillAhead": "off"}}
TEXT = """\
if  area(a, b):
    return a * b


print(area(1, 2))
print(area(3, 4))
if True:
    print(area(5, 6))
print("the end")
"""
RENAMED = TEXT.replace("if  area", "if  size")
BEFORE = Path(__file__).with_name("drawn_next_edits.lua").read_text(encoding="utf-8")
DRAWN = "drawn_next_edits()"
FIRST = ("<M-g>", "5:[area] 5:{size} 6: »")
TWO_MARKS = "5: » next edit 6: »"


def draws(nvim: Neovim, expected: str) -> None:
    nvim.until(f"{DRAWN} == [=[{expected}]=]")


def play(nvim: Neovim, *steps: tuple[str, str]) -> None:
    """Type keys, and wait for what is drawn after them, step by step."""
    for keys, expected in steps:
        nvim.keys(keys)
        draws(nvim, expected)


def rename(edit) -> Neovim:
    """Rename the function, by keys; return once the offers are marked."""
    nvim = edit(TEXT)
    nvim.until("(require('intarsia').info() or {}).state == 'ready'")
    play(nvim, ("wcwsize<Esc>", TWO_MARKS))
    return nvim


def test_a_key_shows_accepts_and_goes_on_and_escape_dismisses(edit) -> None:
    nvim = rename(edit)
    play(nvim, FIRST)
    assert nvim.lua("vim.api.nvim_win_get_cursor(0)") == [5, 6]
    nvim.holds_lines(RENAMED)
    play(nvim, ("<M-g>", "6:[area] 6:{größe} 8: »"))
    nvim.holds_lines(RENAMED.replace("area(1", "size(1"))
    play(nvim, ("<Esc>", "8: » next edit"))
    assert nvim.lua("vim.fn.maparg('<Esc>', 'n')") == ""
    play(
        nvim,
        ("<M-g>", "8:+    width = 5+    print(size(width, 6)) 8:[print(area(5, 6))]"),
        ("<M-g>", ""),
    )
    accepted = RENAMED.replace("area(1", "size(1").replace(
        "    print(area(5, 6))", "    width = 5\n    print(size(width, 6))"
    )
    nvim.holds_lines(accepted)
    assert nvim.lua("vim.api.nvim_win_get_cursor(0)") == [9, 20]


def test_a_name_that_was_searched_is_not_drawn_as_found_where_it_would_go(edit) -> None:
    nvim = rename(edit)
    nvim.keys("/area<CR>")
    play(nvim, ("<M-g>", "5:area 5:{size} 6: »"))
    cell = "(function() vim.cmd.redraw() return vim.api.nvim__inspect_cell(1, 4, 6) end)()"
    name, searched = nvim.lua(cell)[:2]
    nvim.lua("vim.cmd.nohlsearch()")
    assert (name, searched) == tuple(nvim.lua(cell)[:2]) and name == "a" and searched


def test_where_nothing_is_left_the_key_goes_to_another_file(edit) -> None:
    nvim = edit("#\n\nz = fetch(url, 30)\n", "other.py")
    nvim.run("vim.o.hidden = true")
    nvim.change_settings(nextEdit="bold")
    edit("y = fetch(url, 30)\n")
    play(nvim, ("f3itimeout=<Esc>", "1: » next edit in other.py:3"))
    nvim.run("vim.bo[vim.fn.bufnr('other.py')].modifiable = false")
    play(nvim, ("l", ""))
    nvim.run("vim.bo[vim.fn.bufnr('other.py')].modifiable = true")
    play(nvim, ("h", "1: » next edit in other.py:3"), ("<M-g>", "3:{timeout=}"))
    nvim.holds_lines("#\n\nz = fetch(url, 30)")
    play(nvim, ("<M-g>", ""))
    nvim.holds_lines("#\n\nz = fetch(url, timeout=30)")
    nvim.keys("u")
    nvim.holds_lines("#\n\nz = fetch(url, 30)")
    nvim.keys("<C-o>")
    nvim.until("vim.fn.expand('%:t') == 'a.py'")
    nvim.holds_lines("y = fetch(url, timeout=30)")
    draws(nvim, "")
    nvim.change_settings(nextEdit="sure")
    nvim.run("vim.o.hidden = false")


def test_one_undo_takes_an_accepted_one_back_and_nothing_comes_right_after(edit) -> None:
    nvim = rename(edit)
    play(nvim, FIRST, ("<M-g>", "6:[area] 6:{größe} 8: »"))
    nvim.keys("u")
    nvim.holds_lines(RENAMED)
    draws(nvim, "")
    assert not nvim.lua("require('intarsia').has_next_edit()")
    nvim.keys("<C-r>")
    nvim.holds_lines(RENAMED.replace("area(1", "size(1"))
    draws(nvim, "")


def test_in_insert_mode_it_is_a_step_of_undo_of_its_own(edit) -> None:
    nvim = rename(edit)
    nvim.keys("A  # x")
    nvim.until("require('intarsia').has_next_edit()")  # the server has moved them
    play(nvim, FIRST, ("<M-g>", "6:[area] 6:{größe} 8: »"), ("<M-e>", "8: » next edit"))
    nvim.keys("<Esc>")
    nvim.holds_lines(RENAMED.replace("b):", "b):  # x").replace("area(1", "size(1"))
    nvim.keys("u")
    nvim.holds_lines(RENAMED.replace("b):", "b):  # x"))


def test_the_cursor_that_leaves_hides_it_and_dismisses_nothing(edit) -> None:
    nvim = rename(edit)
    play(nvim, FIRST, ("k", TWO_MARKS))
    nvim.keys("G")
    draws(nvim, "5: » next edit 6: »")  # round to the first one


def test_typing_takes_what_is_shown_away(edit) -> None:
    nvim = rename(edit)
    play(nvim, FIRST)
    nvim.keys("x")
    nvim.until(f"not {DRAWN}:find('size')")
    nvim.holds_lines(RENAMED.replace("area(1", "rea(1"))


def test_new_lines_are_drawn_as_lines(edit) -> None:
    text = "if  area(a, b):\n    return a * b\n\n\nimport os\n"
    nvim = edit(text)
    play(nvim, ("wcwsize<Esc>", "5: » next edit"), ("<M-g>", "5:+import sys"))
    nvim.keys("<M-g>")
    nvim.holds_lines(text.replace("area", "size") + "import sys\n")


def test_a_last_line_without_line_end_stays_where_lines_come_below_it(edit) -> None:
    edit("one = 1\n").run("vim.go.fixeol = false")
    text = "if  area(a, b):\n    return a * b\n\n\nimport os"
    nvim = edit(text, "b.py")
    play(nvim, ("wcwsize<Esc>", "5: » next edit"), ("<M-g>", "5:+import sys"))
    nvim.keys("<M-g>")
    nvim.holds_lines(text.replace("area", "size") + "\nimport sys")
    nvim.run("vim.go.fixeol = true")


def test_ghost_text_has_precedence(edit) -> None:
    nvim = rename(edit)
    nvim.keys("oghost = ")
    nvim.shows("text")
    assert nvim.lua("require('intarsia').next_edit()") is False
    nvim.keys("<Esc>")


def test_no_ghost_text_is_asked_for_where_a_next_edit_is_shown(edit) -> None:
    nvim = rename(edit)
    nvim.keys("A")
    play(nvim, FIRST)
    nvim.keys("<Left><Right>")
    nvim.shows(None)
    nvim.keys("<M-e>")
    nvim.until(f"not {DRAWN}:find('size')")


def test_a_key_does_what_it_did_where_there_is_no_next_edit(edit) -> None:
    nvim = edit("one = 1\n")
    nvim.run("vim.keymap.set('n', '<M-g>', 'x')")
    nvim.keys("<M-g>")
    nvim.holds_lines("ne = 1")
    nvim.run("vim.keymap.del('n', '<M-g>')")


def test_all_are_applied_at_once_but_for_an_unticked_one(edit) -> None:
    nvim = rename(edit)
    nvim.keys(":Intarsia nextedit all<CR>")
    nvim.until("vim.api.nvim_win_get_config(0).relative ~= ''")
    nvim.holds_lines("[x] line 5: print(size(1, 2))\n[x] line 6: print(größe(3, 4))")
    nvim.keys("j<Space>")
    nvim.holds_lines("[x] line 5: print(size(1, 2))\n[ ] line 6: print(größe(3, 4))")
    nvim.keys("k<Space><Space>k<Space>")
    nvim.holds_lines("[x] line 5: print(size(1, 2))\n[x] line 6: print(größe(3, 4))")
    nvim.keys("<CR>")
    nvim.holds_lines(RENAMED.replace("area(1", "size(1").replace("area(3", "größe(3"))
    nvim.keys("u")
    nvim.holds_lines(RENAMED)


def test_commands_say_where_there_is_none(edit) -> None:
    nvim = edit("one = 1\n")
    nvim.keys(":Intarsia nextedit<CR>")
    nvim.tells("there is no next edit here")
    nvim.keys(":Intarsia nextedit sideways<CR>")
    nvim.tells("not")


def test_switched_off_nothing_is_marked(edit) -> None:
    nvim = rename(edit)
    nvim.run("require('intarsia').toggle()")
    draws(nvim, "")
    nvim.run("require('intarsia').toggle()")
    draws(nvim, TWO_MARKS)


def test_what_cannot_be_applied_any_more_is_no_longer_drawn(edit) -> None:
    nvim = rename(edit)
    play(nvim, FIRST)
    at_once = nvim.run(f"""
      local next_edit = require('intarsia.next_edit')
      local chosen = next_edit.offers()
      vim.api.nvim_buf_set_lines(0, 0, 0, false, {{'# above'}})
      return {{next_edit.apply(chosen), {DRAWN}}}
    """)  # soon the server offers them where they are now
    assert at_once == [False, ""]
    nvim.holds_lines("# above\n" + RENAMED)


def test_after_an_accepted_one_the_cursor_stays_where_a_macro_is_recorded(edit) -> None:
    nvim = rename(edit)
    play(nvim, ("<M-g><M-g>qa", "6: » next edit"))
    assert nvim.lua("vim.api.nvim_win_get_cursor(0)[1]") == 5
    nvim.keys("q")


def test_offers_for_a_closed_document_open_no_buffer(edit) -> None:
    nvim = edit("one = 1\n")
    uri = "file:///closed/meanwhile.py"
    nvim.run(f"require('intarsia.next_edit').receive({{uri = '{uri}', version = 1, edits = {{}}}})")
    assert nvim.lua("vim.fn.bufexists('/closed/meanwhile.py')") == 0
