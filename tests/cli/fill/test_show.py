"""The picture of a fill, as plain text, and what is seen while it is under way."""

import io
from pathlib import Path
from textwrap import dedent

import pytest
from command_line import run
from rich.console import Console

from intarsia.cli.fill.show import draw_change
from intarsia.cli.live_view import LiveCanvas, LoadBar, WaitingView, render_canvas
from intarsia.engine.ipc.messages import CanvasToken, LoadProgress, Step
from intarsia.infill.holes.hole import hole_for_range
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


def test_a_token_of_unknown_confidence_has_no_colour():
    picture = render_canvas([CanvasToken("return", None, True), CanvasToken("x", None, False)])
    assert str(picture.get_style_at_offset(Console(), 0)) == "bold"
    assert picture.plain == "return░"


def test_control_characters_do_not_reach_the_terminal():
    assert "\x1b" not in render_canvas([CanvasToken("\x1b[2J", 1.0, True)]).plain


def test_the_live_view_shows_the_line_round_the_hole_and_clears_up():
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=60, color_system=None)
    text = "before\nx = \nafter\n"
    hole = hole_for_range(text, 11, 11, PLAIN_TEXT)
    with LiveCanvas(console) as live:
        live.show(text, hole, Step(id=1, step=1, tokens=(CanvasToken("1", 1.0, True),)))
        shown = stream.getvalue()
    assert "x = 1" in shown
    assert "step 1" in shown
    assert "before" not in shown
    assert stream.getvalue().endswith("\x1b[2K")


HOLE = hole_for_range("", 0, 0, PLAIN_TEXT)


def watch(console: Console) -> None:
    with WaitingView(console, watch=True) as view:
        view.on_load_progress(LoadProgress(stage="reading weights", fraction=0.5))
        view.on_load_progress(LoadProgress(stage="converting", fraction=None))
        view.on_step("", HOLE, Step(id=1, step=1, tokens=(CanvasToken("first", 1.0, True),)))
        view.hide()
        view.on_step("", HOLE, Step(id=2, step=1, tokens=(CanvasToken("second", 1.0, True),)))


def test_a_terminal_sees_the_loading_and_then_each_canvas(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    watch(Console(file=stream, force_terminal=True, width=80, color_system=None))
    shown = stream.getvalue()
    places = [shown.index(word) for word in ("reading weights", "converting", "first", "second")]
    assert places == sorted(places)
    assert "50%" in shown
    assert shown.rstrip().endswith("\x1b[2K")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("fill", "new.py", "--hole", "1:5-1:5", "--hole", "2:1-2:1"), ["filling"] * 3),
        (("demo",), ["filling"] * 8),
        (("next", "new.py", "--before", "old.py"), ["looking for next edits"]),
        (("doctor",), ["checking python", "checking torch", "checking gemma"]),
        (("report",), ["checking python", "checking torch", "checking gemma"]),
        (("stop",), ["stopping the engine"]),
        (("remote", "add", "one", "http://localhost:1"), ["asking localhost:1"]),
    ],
    ids=lambda it: it[0],
)
def test_a_terminal_is_never_blank_while_something_is_awaited(
    start_engine, tmp_path, monkeypatch, words, shown
):
    start_engine(text="1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTARSIA_CONFIG_DIR", str(tmp_path))
    Path("old.py").write_text("b = 1\nc = a\n")
    Path("new.py").write_text("a = 1\nc = a\n")
    seen = []
    monkeypatch.setattr(LoadBar, "update", lambda bar, stage, fraction: seen.append(stage))
    run(*words)
    assert [stage for stage in seen if stage in shown] == shown


def test_a_pipe_sees_nothing():
    stream = io.StringIO()
    watch(Console(file=stream))
    assert stream.getvalue() == ""


def test_who_does_not_watch_gets_no_steps():
    assert WaitingView(Console(file=io.StringIO()), watch=False).on_step is None
