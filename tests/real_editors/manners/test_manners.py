"""Manners in VS Code: when no ghost text comes by itself, and what ends the silence."""

from playwright.sync_api import expect
from sources import SUM
from vscode_window import VSCodeWindow
from windows import Windows

QUIET_MS = 3_000
"""An answer of the engine has come by then, if it was asked."""

SHOWN = "left + right"


def expect_silence(window: VSCodeWindow, words: str) -> None:
    """Wait so long that ghost text would have come; the status says why it did not."""
    assert window.ghost_text_within(QUIET_MS) == ""
    window.expect_status_tells(words)


def test_nothing_right_after_a_deletion_until_something_is_typed(windows: Windows) -> None:
    window = windows.open(SUM.replace("║", " abc║"))
    window.press("Backspace", "Backspace", "Backspace")
    expect_silence(window, "text was just deleted here")
    window.command("Trigger Inline Suggestion")  # an invoked request is always answered
    window.expect_ghost_text(SHOWN)
    window.press("Escape")
    window.type("l")
    window.expect_ghost_text("eft + right")


def test_nothing_over_the_menu_of_completions_where_the_user_wants_nothing(windows):
    settings = {"editor.quickSuggestions": False, "intarsia.overMenu": False}
    window = windows.open(SUM.replace("║", " ║"), settings=settings)
    window.press("Control+Space")
    menu = window.page.locator(".suggest-widget.visible")
    expect(menu).to_be_visible()
    assert window.ghost_text_within(QUIET_MS) == ""
    window.press("Escape")
    expect(menu).not_to_be_visible()
    window.type("l")
    window.expect_ghost_text("eft + right")


def test_nothing_in_an_open_snippet(windows: Windows) -> None:
    source = "function printAll(items) {\n  ║\n}\n\nprintAll([1, 2, 3]);\n"
    settings = {"editor.suggestOnTriggerCharacters": False, "editor.quickSuggestions": False}
    window = windows.open(source, "print.js", settings=settings)
    window.command("Snippets: Insert Snippet")
    window.page.get_by_placeholder("Select a snippet").fill("forof")
    window.choose("forof")
    window.type("it")  # in the snippet's first place
    assert window.ghost_text_within(QUIET_MS) == ""
    window.press("Tab")
    window.type("items")
    window.press("Tab")  # to its last place, which ends it
    window.type("console.")
    assert window.ghost_text()


def test_nothing_over_an_emmet_abbreviation_that_tab_would_expand(windows: Windows) -> None:
    source = "<html>\n<body>\n║\n</body>\n</html>\n"
    window = windows.open(source, "page.html", settings={"emmet.triggerExpansionOnTab": True})
    window.type("ul>li")
    assert window.ghost_text_within(QUIET_MS) == ""
    window.press("Tab")
    window.expect_saved(source.replace("║", "<ul>\n\t<li></li>\n</ul>").replace("\t", "    "))


def test_silence_in_a_line_after_three_dismissals(windows: Windows) -> None:
    window = windows.open(SUM)
    window.type(" ")
    for typed, rest in (("", SHOWN), ("l", "eft + right"), ("e", "ft + right")):
        window.type(typed)
        window.expect_ghost_text(rest)
        window.press("Escape")
        window.expect_ghost_text("")
    window.type("f")
    expect_silence(window, "dismissed 3 times")
