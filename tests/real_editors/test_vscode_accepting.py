"""Ways to accept in VS Code: a word, a line, what is sure, another candidate."""

from code_server import ACCEPT_LINE
from sources import LOOP, OPENING, SUM
from windows import Windows


def test_accepting_word_by_word_keeps_the_rest(windows: Windows) -> None:
    window = windows.open(SUM)
    window.type(" ")
    window.expect_ghost_text("left + right")
    window.press("Control+ArrowRight")
    window.expect_ghost_text(" + right")
    window.expect_saved(SUM.replace("║", " left"))
    window.press("Control+ArrowRight")
    left = window.other_ghost_text(" + right")
    assert left.endswith("right")
    window.expect_saved(SUM.replace("║", " " + "left + right".removesuffix(left)))


def test_accepting_a_line_keeps_the_lines_below(windows: Windows) -> None:
    window = windows.open(LOOP)
    window.press("Enter")
    first, *rest = window.ghost_text().split("\n")
    assert rest
    window.press(ACCEPT_LINE)
    window.expect_cursor(6, 1)
    window.expect_saved(LOOP.replace("║", f"\n        {first}\n"))
    assert window.ghost_text() == "\n".join(rest)


def test_invoking_offers_several_and_the_one_on_show_is_accepted(windows: Windows) -> None:
    window = windows.open(SUM.replace("║", " ║"))
    window.command("Trigger Inline Suggestion")
    first = window.ghost_text()
    window.press("Alt+]")
    second = window.other_ghost_text(first)
    window.press("Alt+[")
    window.expect_ghost_text(first)
    window.press("Alt+]")
    window.expect_ghost_text(second)
    window.press("Tab")
    window.expect_ghost_text("")
    window.expect_saved(SUM.replace("║", f" {second}"))


def test_accepting_what_is_sure_stops_before_the_first_unsure_token(windows: Windows) -> None:
    window = windows.open(OPENING, settings={"intarsia.sureConfidence": 0.8})
    window.type(" ")
    shown = window.ghost_text()
    window.press("Control+Alt+ArrowRight")
    left = window.other_ghost_text(shown)
    assert left
    assert shown.endswith(left)
    sure = shown.removesuffix(left)
    assert sure.startswith("open(path")
    window.expect_saved(OPENING.replace("║", f" {sure}"))
