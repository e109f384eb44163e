"""A repair in VS Code: a quick fix at an error, applied once, and undone by one undo."""

from windows import Windows

BROKEN = """def add(left, right:║
    return left + right


print(add(1, 2))
"""
TITLE = 'Repair: insert ")" (intarsia)'


def test_a_quick_fix_repairs_the_line_and_one_undo_takes_it_back(windows: Windows) -> None:
    window = windows.open(BROKEN)
    window.choose_action(TITLE)
    window.expect_saved(BROKEN.replace("right:║", "right):"))
    window.press("Control+z")
    window.expect_saved(BROKEN.replace("║", ""))
