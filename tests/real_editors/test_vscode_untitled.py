"""New documents in VS Code: suggestions before there is a file, and after it is saved."""

import re
from pathlib import Path

from extension_log import ExtensionLog
from playwright.sync_api import expect
from sources import SUM
from test_vscode_context import OTHERS
from vscode_window import VSCodeWindow
from windows import own_windows

from conftest import PATIENT

# It closes no brackets and indents nothing by itself.
SETTINGS: dict[str, object] = {
    "editor.autoClosingBrackets": "never",
    "editor.autoClosingQuotes": "never",
    "editor.autoIndent": "none",
}
TYPED = SUM[: SUM.index("║")]


def save_as(window: VSCodeWindow, file: Path) -> None:
    window.press("Control+s")
    field = window.page.locator(".quick-input-widget input[type=text]")
    expect(field).to_be_focused()
    expect(field).to_have_value(re.compile("def add"))  # VS Code's proposal comes late
    field.fill(str(file))
    window.page.wait_for_timeout(1000)
    window.press("Enter")


def test_a_new_document_gets_suggestions_before_and_after_it_is_saved(
    real_engine_runtime, browser, tmp_path
):
    with own_windows(
        real_engine_runtime, browser, tmp_path, settings={**PATIENT, **SETTINGS}
    ) as windows:
        log = ExtensionLog(server=windows.server)
        window = windows.open("║", "empty.py", others=OTHERS)
        window.command("File: New Untitled Text File")
        expect(window.page.locator(".tab.active")).to_contain_text("Untitled-1")
        window.command("Change Language Mode")
        window.page.keyboard.type("Python")
        window.choose("Python")
        window.type(f"{TYPED} ")
        window.expect_ghost_text("left + right")
        window.press("Tab")
        seen = window.expect_the_model_sees("def add(left, right)")
        assert str(tmp_path) not in seen and "ledger" not in seen
        window.page.get_by_role("tab", name="What the Model Sees").click(button="middle")

        saved = window.file.with_name("saved.py")
        save_as(window, saved)
        expect(window.page.locator(".tab.active")).to_contain_text("saved.py")
        assert saved.read_text() == f"{TYPED} left + right"
        window.press("Enter", "Enter")
        window.type('def sub(left, right):\n    """Return left minus right."""\n    return ')
        window.expect_ghost_text("left - right")
        assert log.problems() == []
