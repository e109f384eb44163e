"""How a suggestion settles: settled tokens as text, the others as a mark, nothing flickers."""

import pytest
from headless_nvim import GHOST_TEXT

RULES = {"rules": [("one =", "alpha + größe\n")], "text": "1", "step_seconds": 0.25}
# No part of a draft waits until it is certain.
OPTIONS = {"settings": {"debounceMs": 0, "deadlineMs": 60_000, "showThreshold": 0}}
# Everything that is drawn or taken away, in order.
AFTER = """
  _G.drawn = {}
  local set, delete = vim.api.nvim_buf_set_extmark, vim.api.nvim_buf_del_extmark
  vim.api.nvim_buf_set_extmark = function(buffer, namespace, row, col, options)
    if namespace == vim.api.nvim_create_namespace("intarsia") then
      local texts = vim.tbl_map(function(chunk) return chunk[1] end, options.virt_text)
      table.insert(_G.drawn, table.concat(texts))
    end
    return set(buffer, namespace, row, col, options)
  end
  vim.api.nvim_buf_del_extmark = function(buffer, namespace, id)
    if namespace == vim.api.nvim_create_namespace("intarsia") then
      table.insert(_G.drawn, false)
    end
    return delete(buffer, namespace, id)
  end
"""


def test_it_settles_in_place_and_becomes_the_answer(edit) -> None:
    nvim = edit("one =\n")
    nvim.run("_G.drawn = {}")
    nvim.play(("A<Space>", "alpha + größe"))
    drawn = nvim.lua("_G.drawn")
    first = next(number for number, text in enumerate(drawn) if text)
    assert False not in drawn[first:]  # never removed before that
    seen = list(dict.fromkeys(drawn[first:]))
    assert seen[-1] == "alpha + größe"
    assert "alpha · ·····" in seen
    assert "alpha + ·····" in seen


def test_a_key_takes_the_draft_away_and_no_late_one_is_drawn(edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.until(GHOST_TEXT)
    nvim.play(("<Esc>", None))
    nvim.run("_G.drawn = {}")
    nvim.keys(":sleep 600m<CR>")
    assert not any(nvim.lua("_G.drawn"))


def test_a_draft_that_is_accepted_goes_in_once_it_has_settled(edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.drafts("alpha · ·····")
    nvim.keys("<M-w>")
    nvim.holds("one = alpha")
    nvim.shows(" + größe")


def test_a_key_behind_an_accepted_draft_calls_it_off(edit) -> None:
    nvim = edit("one =\n")
    nvim.keys("A<Space>")
    nvim.drafts("alpha · ·····")
    nvim.keys("<M-l>zu")
    nvim.shows("alpha + größe")  # the answer for the new place
    nvim.holds("one = zu")


@pytest.mark.parametrize(
    ("drafts", "drawn"),
    [
        ([[("if", True), (" 語é:\n", False), ("    x", False)]], ["if ····", "    ·"]),
        (  # what is marked never gets narrower or lower
            [[("a", True), ("bcdef\n", False), ("gh", False)], [("a", True), ("b", False)]],
            ["a·····", "··"],
        ),
        (  # a line that has settled is as wide as its text
            [
                [("abc", False), ("def\n", False), ("ghi", False)],
                [("ab", True), ("\n", True), ("g", False)],
            ],
            ["ab", "···"],
        ),
    ],
)
def test_guesses_are_marked_by_their_width_and_blanks_stay_blank(edit, drafts, drawn):
    """Of the last of these drafts of one request."""
    lines = edit("").run(
        """
        local widths, lines = {}, nil
        for _, tokens in ipairs(...) do
          tokens = vim.tbl_map(function(token)
            return { text = token[1], settled = token[2], confidence = 1 }
          end, tokens)
          lines = require("intarsia.draft").lines({ tokens = tokens }, widths)
        end
        return vim.tbl_map(function(line)
          return table.concat(vim.tbl_map(function(run) return run[1] end, line))
        end, lines)
        """,
        drafts,
    )
    assert lines == drawn


REVISE = """
  local version_ahead, column = ...
  local buffer = vim.api.nvim_get_current_buf()
  local request, num_sent = require("intarsia.request"), 0
  local send = request.send
  request.send = function(...)
    num_sent = num_sent + 1
    return send(...)
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local place = { line = row, character = column }
  require("intarsia.ghost_text").show_draft({
    textDocument = {
      uri = vim.uri_from_bufnr(buffer),
      version = vim.lsp.util.buf_versions[buffer] + version_ahead,
    },
    range = { start = place, ["end"] = place },
    step = 0,
    tokens = {},
    revised = true,
  })
  request.send = send
  return num_sent
"""


def test_a_revised_answer_is_requested_again_where_the_user_still_is(edit) -> None:
    nvim = edit("one =\n")
    nvim.play(("A<Space>", "alpha + größe"))
    assert nvim.run(REVISE, 1, 6) == 0  # of a newer text
    assert nvim.run(REVISE, 0, 5) == 0  # elsewhere
    assert nvim.run(REVISE, 0, 6) == 1
    nvim.shows("alpha + größe")
