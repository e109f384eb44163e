"""Imports in VS Code: ghost text brings the import along, and one undo takes both back."""

import contextlib

import pytest
from playwright.sync_api import expect
from vscode_window import VSCodeWindow
from windows import Windows

SOURCE = '''import os


def load(path):
    """Return the parsed JSON of the file at the path, None if there is none."""
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return║
'''
SHOWN = "json.load(file)"
TOLD = "Intarsia: Add import json"
ACCEPTED = SOURCE.replace("import os\n", "import json\nimport os\n").replace("║", f" {SHOWN}")


@pytest.fixture
def window(windows: Windows) -> VSCodeWindow:
    """A window with a suggestion on show that brings its import."""
    window = windows.open(SOURCE)
    window.type(" ")
    for _ in range(10):  # no suggestion waits for the index, which starts with the window
        window.expect_ghost_text(SHOWN)
        with contextlib.suppress(AssertionError):
            expect(window.page.locator(".statusbar")).to_contain_text(TOLD, timeout=2_000)
            return window
        window.command("Trigger Inline Suggestion")
    raise AssertionError("no import comes along")


def test_the_import_is_added_and_one_undo_takes_both_back(window: VSCodeWindow) -> None:
    window.press("Tab")
    window.expect_cursor(10, 16 + len(SHOWN))  # one line lower: the import is there
    expect(window.page.locator(".statusbar")).not_to_contain_text(TOLD)
    window.press("Control+z")
    window.expect_saved(SOURCE.replace("║", " "))
    window.press("Control+Shift+z")
    window.expect_saved(ACCEPTED)


def test_accepted_by_the_word_it_brings_the_import_too(window: VSCodeWindow) -> None:
    window.press("Control+ArrowRight")
    window.press("Tab")
    window.expect_ghost_text("")
    window.expect_saved(ACCEPTED)
