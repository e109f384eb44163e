"""Several folders in one VS Code window: each has settings of its own."""

import contextlib
import json

from sources import SUM
from vscode_window import VSCodeWindow
from windows import Windows

OFF = json.dumps({"intarsia.disabledLanguages": ["python"]})
SETTINGS = ".vscode/settings.json"
ANSWERED_MS = 5_000
IS_OFF = "python is in disabledLanguages"


def expect_quiet(window: VSCodeWindow) -> None:
    """Type a blank until the reason is this one: VS Code reads each folder's settings on its own.

    No ghost text alone would prove nothing: the answer may still be on its way.
    """
    for _ in range(10):
        window.press("Backspace", "Space")
        with contextlib.suppress(AssertionError):
            window.expect_status_tells(IS_OFF, within_ms=ANSWERED_MS)
            break
    window.expect_status_tells(IS_OFF)
    window.expect_ghost_text("")


def test_a_language_is_off_in_one_folder_and_a_change_reaches_that_folder(windows: Windows) -> None:
    source = SUM.replace("║", "")
    roots = {"on": {"sum.py": source}, "off": {"quiet.py": source, SETTINGS: OFF}}
    window = windows.open_roots(roots, "on/sum.py")
    folder = window.file.parents[1]
    window.press("ArrowDown", "ArrowDown", "End")
    window.type(" ")
    window.expect_ghost_text("left + right")
    quiet = window.open_file(folder / "off" / "quiet.py")
    quiet.press("Control+Home", "ArrowDown", "ArrowDown", "End")
    quiet.type(" ")
    expect_quiet(quiet)
    (folder / "off" / SETTINGS).write_text("{}")
    (folder / "on" / SETTINGS).parent.mkdir()
    (folder / "on" / SETTINGS).write_text(OFF)
    quiet.press("Backspace", "Space")
    for _ in range(10):  # until VS Code has read the settings
        if quiet.ghost_text_within(ANSWERED_MS):
            break
        quiet.press("Backspace", "Space")
    quiet.expect_ghost_text("left + right")
    again = quiet.open_file(folder / "on" / "sum.py")
    expect_quiet(again)
