"""How a suggestion settles: settled tokens as text, the others as a mark, nothing flickers."""

from pathlib import Path

import pytest
from headless_nvim import GHOST_TEXT

RULES = {"rules": [("one =", "alpha + größe\n")], "text": "1", "step_seconds": 0.25}
# No part of a draft waits until it is certain.
OPTIONS = {"settings": {"debounceMs": 0, "deadlineMs": 60_000, "showThreshold": 0}}
AFTER = Path(__file__).with_name("record_drawn.lua").read_text(encoding="utf-8")


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


REVISE = Path(__file__).with_name("revise.lua").read_text(encoding="utf-8")


def test_a_revised_answer_is_requested_again_where_the_user_still_is(edit) -> None:
    nvim = edit("one =\n")
    nvim.play(("A<Space>", "alpha + größe"))
    assert nvim.run(REVISE, 1, 6) == 0  # of a newer text
    assert nvim.run(REVISE, 0, 5) == 0  # elsewhere
    assert nvim.run(REVISE, 0, 6) == 1
    nvim.shows("alpha + größe")
