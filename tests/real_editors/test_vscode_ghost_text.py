"""Ghost text in VS Code: when it appears, where it must not appear, and ways to accept it."""

import pytest
from engine_watch import num_fills
from sources import LOOP, OPENING, SUM
from windows import Windows


def test_ghost_text_appears_while_typing_and_is_saved_only_once_accepted(windows: Windows) -> None:
    window = windows.open(SUM)
    window.type(" ")
    window.expect_ghost_text("left + right")
    window.expect_saved(SUM.replace("║", " "))
    window.press("Tab")
    window.expect_cursor(3, 24)
    window.expect_ghost_text("")
    window.expect_saved(SUM.replace("║", " left + right"))


def test_typing_along_keeps_it_and_does_not_ask_the_engine_again(windows, real_engine_runtime):
    window = windows.open(SUM)
    window.type(" ")
    window.expect_ghost_text("left + right")
    fills = num_fills(real_engine_runtime)
    for typed, left in (("l", "eft + right"), ("eft +", " right"), (" righ", "t")):
        window.type(typed)
        window.expect_ghost_text(left)
    window.expect_status_tells("known before")
    assert num_fills(real_engine_runtime) == fills
    window.press("Tab")
    window.expect_cursor(3, 24)
    window.expect_saved(SUM.replace("║", " left + right"))


PORT = 'config = {"host": "localhost", "port": 8080}\nhost = config["host"]\nport =║\n'
PERIMETER = """export function area(width: number, height: number): number {
  return width * height;
}

export function perimeter(width: number, height: number): number║
"""
BODY = "\n  return 2 * (width + height);\n"


@pytest.mark.parametrize(
    ("name", "source", "steps"),
    [
        (
            "port.py",
            PORT,
            [(" ", 'config["port"]'), ("config[", '"port"'), ('"', "port"), ("po", "rt")],
        ),
        ("area.ts", PERIMETER, [(" ", "{" + BODY + "}"), ("{", BODY), ("\n", BODY.strip())]),
    ],
)
def test_it_goes_on_inside_what_vs_code_closes(windows, real_engine_runtime, name, source, steps):
    (first, whole), *inside = steps
    window = windows.open(source, name, settings={"intarsia.showThreshold": "0"})
    window.type(first)
    window.expect_ghost_text(whole)
    fills = num_fills(real_engine_runtime)
    for typed, left in inside:
        window.type(typed)
        window.expect_ghost_text(left)
    assert num_fills(real_engine_runtime) == fills
    window.press("Tab")
    window.expect_ghost_text("")
    window.expect_saved(source.replace("║", first + whole))


def test_an_answer_later_than_the_editors_patience_is_shown_all_the_same(windows: Windows) -> None:
    no_menu = {"editor.wordBasedSuggestions": "off"}  # it would select "left", and be continued
    window = windows.open(
        SUM.replace("║", " l║"), settings={**no_menu, "intarsia.debounceMs": 1500}
    )
    window.type("e")
    window.expect_ghost_text("ft + right")
    window.press("Tab")
    window.expect_cursor(3, 24)
    window.expect_saved(SUM.replace("║", " left + right"))


def test_line_ends_of_a_crlf_file_stay_what_they_are(windows: Windows) -> None:
    source = (
        "function indexOf(items, wanted) {\n  ║\n}\n\nconsole.log(indexOf([1, 2, 3], 2));\n"
    ).replace("\n", "\r\n")
    # The menu has the keyword, and Tab would take that first.
    settings = {"editor.quickSuggestions": False, "intarsia.showThreshold": "0"}
    window = windows.open(source, "find.js", settings=settings)
    window.type("for")
    shown = window.ghost_text()
    window.press("Tab")
    window.expect_ghost_text("")
    window.expect_saved(source.replace("║", "for" + shown.replace("\n", "\r\n")))


def test_nothing_is_asked_while_inline_suggestions_are_off(windows, real_engine_runtime):
    window = windows.open(SUM, settings={"editor.inlineSuggest.enabled": False})
    fills = num_fills(real_engine_runtime)
    window.type(" ")
    window.change_settings({"editor.inlineSuggest.enabled": True})
    window.press("Backspace")
    window.type(" ")
    window.expect_ghost_text("left + right")
    assert num_fills(real_engine_runtime) == fills + 1
    window.expect_saved(SUM.replace("║", " "))


def test_a_draft_is_drawn_first_and_gone_once_the_suggestion_is_there(windows: Windows) -> None:
    window = windows.open(LOOP, settings={"intarsia.showThreshold": "0"})  # all drafts are shown
    window.press("Enter")
    shown = window.ghost_text()
    drafts = [entry["draft"] for entry in window.history() if not entry["ghost"]]
    assert any(draft.strip() for draft in drafts)
    assert window.history()[-1]["draft"] == ""
    window.press("Tab")
    window.expect_saved(LOOP.replace("║", f"\n        {shown}"))


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
    # Else only what is probable to be kept is shown, which is all sure.
    settings = {"intarsia.sureConfidence": 0.8, "intarsia.showThreshold": "0"}
    window = windows.open(OPENING, settings=settings)
    window.type(" ")
    shown = window.ghost_text()
    window.press("Control+Alt+ArrowRight")
    left = window.other_ghost_text(shown)
    assert left
    assert shown.endswith(left)
    sure = shown.removesuffix(left)
    assert sure.startswith("open(path")
    window.expect_saved(OPENING.replace("║", f" {sure}"))
