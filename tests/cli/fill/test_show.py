"""The picture of a fill, as plain text."""

from textwrap import dedent

from intarsia.cli.fill.show import draw_change
from intarsia.infill.languages import PLAIN_TEXT, language_for_id
from intarsia.infill.replacement import Replacement


def check(source: str, fill: str, expected: str, language: str = "python") -> None:
    """``source`` has its hole between ``«`` and ``»``."""
    start, end = source.index("«"), source.index("»") - 1
    text = source.replace("«", "").replace("»", "")
    change = Replacement(start=start, end=end, new=fill)
    drawn = draw_change(text, change, language_for_id(language))
    shown = [line.rstrip() for line in drawn.plain.split("\n")]
    assert shown == dedent(expected).strip("\n").split("\n")


def test_several_lines_move_what_is_below_and_tabs_and_line_ends_are_shown_plainly():
    check(
        "if a {\r\n\t«»\r\n}\r\n",
        "b()\r\n\tc()",
        """
              1 │ if a {
        -     2 │     ░░░
        +     2 │     b()
        +     3 │     c()
              4 │ }
              5 │
        """,
        language="go",
    )


def test_an_empty_file_has_a_picture():
    check("«»", "x = 1", "-     1 │ ░░░\n+     1 │ x = 1")


def test_a_long_line_is_clipped_round_the_hole():
    text = "a" * 1_000_000
    change = Replacement(start=500_000, end=500_000, new="X")
    was, now = draw_change(text, change, language_for_id("python")).plain.split("\n")
    assert now == "+     1 │ …" + "a" * 100 + "X" + "a" * 100 + "…"
    assert len(was) < 250


def test_control_characters_are_made_visible():
    change = Replacement(start=0, end=0, new="\x9b\u202e")
    drawn = draw_change("a\x1b[2J", change, PLAIN_TEXT)
    assert not {"\x1b", "\x9b", "\u202e"} & set(drawn.plain)
