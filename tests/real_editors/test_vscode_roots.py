"""Several folders in one VS Code window: each has settings of its own."""

import json

from sources import SUM
from windows import Windows

OFF = json.dumps({"intarsia.disabledLanguages": ["python"]})
SETTINGS = ".vscode/settings.json"
QUIET_MS = 3_000
"""An answer of the engine has come by then, if it was asked."""


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
    for _ in range(10):  # until VS Code has read the settings of this folder, too
        if quiet.ghost_text_within(QUIET_MS) == "":
            break
        quiet.press("Backspace", "Space")
    quiet.expect_ghost_text("")
    quiet.expect_status_tells("python is in disabledLanguages")
    (folder / "off" / SETTINGS).write_text("{}")
    (folder / "on" / SETTINGS).parent.mkdir()
    (folder / "on" / SETTINGS).write_text(OFF)
    quiet.press("Backspace", "Space")
    for _ in range(10):  # until VS Code has read the settings
        if quiet.ghost_text_within(QUIET_MS):
            break
        quiet.press("Backspace", "Space")
    quiet.expect_ghost_text("left + right")
    again = quiet.open_file(folder / "on" / "sum.py")
    for _ in range(10):  # it reads those of each folder on their own
        again.press("Backspace", "Space")
        if again.ghost_text_within(QUIET_MS) == "":
            break
        again.page.wait_for_timeout(500)
    again.expect_ghost_text("")
    again.expect_status_tells("python is in disabledLanguages")
