"""The live canvas as a picture: settled, guessed and masked positions tell apart."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from intarsia.cli.live_view import LiveCanvas, render_canvas
from intarsia.engine.ipc.messages import CanvasToken, Step
from intarsia.infill.holes.hole import Hole


def style_at(text: Text, offset: int) -> str:
    return str(text.get_style_at_offset(Console(), offset))


def test_an_empty_canvas_is_an_empty_text():
    assert render_canvas([]).plain == ""


def test_a_token_of_unknown_confidence_has_no_colour():
    picture = render_canvas([CanvasToken("return", None, True), CanvasToken("x", None, False)])
    assert style_at(picture, 0) == "bold"
    assert picture.plain == "return░"


def test_settled_tokens_are_shown_firm():
    picture = render_canvas([CanvasToken("return", 0.99, True)])
    assert picture.plain == "return"
    assert style_at(picture, 0) == "bold green"


@pytest.mark.parametrize(
    ("confidence", "colour"),
    [(1.0, "green"), (0.9, "green"), (0.7, "yellow"), (0.4, "dark_orange"), (0.0, "red")],
)
def test_the_colour_follows_the_confidence(confidence: float, colour: str):
    assert style_at(render_canvas([CanvasToken("x", confidence, True)]), 0) == f"bold {colour}"


def test_a_good_guess_is_shown_faint_and_a_poor_one_as_a_soft_mark():
    picture = render_canvas([CanvasToken("ab", 0.5, False), CanvasToken("cd", 0.1, False)])
    assert picture.plain == "ab░"
    assert "dim" in style_at(picture, 0)
    assert "italic" in style_at(picture, 0)


def test_a_masked_position_without_a_guess_is_a_soft_mark():
    assert render_canvas([CanvasToken("", 1.0, False)]).plain == "░"


def test_control_characters_do_not_reach_the_terminal():
    assert "\x1b" not in render_canvas([CanvasToken("\x1b[2J", 1.0, True)]).plain


def test_the_live_view_shows_the_line_round_the_hole_and_clears_up():
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=60, color_system=None)
    text = "before\nx = \nafter\n"
    hole = Hole(start=11, end=11, kind="line", given_start=11, max_lines=1)
    with LiveCanvas(console) as live:
        live.show(text, hole, Step(id=1, step=1, tokens=(CanvasToken("1", 1.0, True),)))
        shown = stream.getvalue()
    assert "x = 1" in shown
    assert "step 1" in shown
    assert "before" not in shown
    assert stream.getvalue().endswith("\x1b[2K")


def test_the_live_view_is_silent_where_there_is_no_terminal():
    stream = io.StringIO()
    hole = Hole(start=0, end=0, kind="line", given_start=0, max_lines=1)
    with LiveCanvas(Console(file=stream)) as live:
        live.show("", hole, Step(id=1, step=1, tokens=(CanvasToken("1", 1.0, True),)))
    assert stream.getvalue() == ""
