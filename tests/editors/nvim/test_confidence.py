"""What the model is unsure of is drawn otherwise, and can be left out when accepting."""

from collections.abc import Callable

from headless_nvim import Neovim

RULES = {
    "rules": [("one =", "alpha + maybe * 2"), ("two =", "maybe + 2")],
    "text": "",
    "unsure": ["maybe"],
}
DIMMED = """(function()
  local space = vim.api.nvim_create_namespace('intarsia')
  local mark = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {details = true})[1]
  for _, chunk in ipairs(mark and mark[4].virt_text or {}) do
    if chunk[2] == 'IntarsiaUnsure' then return chunk[1] end
  end
end)()"""
Edit = Callable[..., Neovim]


def test_an_unsure_token_is_dimmed_also_while_it_is_typed_along(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("alpha + maybe * 2")
    assert nvim.lua(DIMMED) == " maybe"
    nvim.keys("alpha + ma")
    nvim.shows("ybe * 2")
    assert nvim.lua(DIMMED) == "ybe"


def test_accepting_what_is_sure_stops_before_the_first_unsure_token(edit: Edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.shows("alpha + maybe * 2")
    nvim.keys("al<M-s>")
    nvim.holds("one = alpha +")
    nvim.shows(" maybe * 2")
    nvim.keys("<M-s>")
    nvim.keys("<M-l>")
    nvim.holds("one = alpha + maybe * 2")


def test_nothing_is_taken_where_the_first_token_is_unsure(edit: Edit) -> None:
    nvim = edit("two =\n")
    nvim.keys("A<Space>")
    nvim.shows("maybe + 2")
    nvim.keys("<M-s>")
    nvim.shows("maybe + 2")
    nvim.holds("two = ")
