"""Inline edits in VS Code: code actions, previews, all holes at once, repairs, one undo."""

from playwright.sync_api import expect
from sources import HOLES, SUM
from windows import Windows

AT_ONCE = {"intarsia.previewEdits": False}


def test_a_selection_is_filled_by_a_code_action_after_a_preview(windows: Windows) -> None:
    source = SUM.replace("║", " 0║")
    window = windows.open(source)
    window.press("Shift+ArrowLeft")
    window.choose_action("Fill")
    preview = window.page.locator(".monaco-diff-editor .editor.modified")
    expect(preview.locator(".view-line", has_text="return left + right")).to_be_visible(
        timeout=60_000
    )
    window.press("Control+Enter")
    expect(preview).to_have_count(0)
    window.expect_saved(SUM.replace("║", " left + right"))


def test_all_holes_are_filled_at_once_and_one_undo_takes_them_back(windows: Windows) -> None:
    source = HOLES.replace("║", "")
    window = windows.open(HOLES, settings=AT_ONCE)
    window.command("Intarsia: Fill All Holes")
    saved = window.saved_change(source)
    assert "return width * height" in saved
    assert "return 2 * (width + height)" in saved
    assert "..." not in saved
    window.press("Control+z")
    window.expect_saved(source)


def test_a_rewrite_changes_the_selection_and_nothing_else(windows: Windows) -> None:
    source = SUM.replace("║", " sum([left, right])║")
    window = windows.open(source, settings=AT_ONCE)
    window.press(*["Shift+ArrowLeft"] * len("sum([left, right])"))
    window.command("Intarsia: Rewrite Selection")
    window.choose("From scratch")
    before, after = SUM.split("║")
    saved = window.saved_change(source.replace("║", ""))
    assert saved.startswith(before + " ")
    assert saved.endswith(after)


def test_an_instruction_edits_the_selection_after_a_preview(windows: Windows) -> None:
    source = SUM.replace("║", " left + right║")
    window = windows.open(source)
    window.press("Control+a")
    window.command("Intarsia: Edit Selection by Instruction")
    field = window.page.locator(".quick-input-widget input[type=text]")
    expect(field).to_be_focused()
    window.type("make it async")
    window.press("Enter")
    preview = window.page.locator(".monaco-diff-editor .editor.modified")
    expect(preview.locator(".view-line", has_text="async def")).to_be_visible(timeout=60_000)
    told = window.page.locator(".notification-list-item", has_text="got 13 of 20 right")
    expect(told).to_be_visible()
    window.press("Control+Enter")
    expect(preview).to_have_count(0)
    assert "async def add" in window.saved_change(source.replace("║", ""))
    window.press("Control+z")
    window.expect_saved(source.replace("║", ""))


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


def test_one_of_several_suggestions_is_chosen_in_a_list(windows: Windows) -> None:
    source = "def clamp(value, low, high):\n    return ║\n\n\nprint(clamp(3, 0, 2))\n"
    window = windows.open(source, settings={"intarsia.automatic": False})
    window.command("Intarsia: Choose Among Suggestions")
    rows = window.page.locator(".quick-input-list .monaco-list-row")
    expect(rows.first).to_contain_text("max(", timeout=60_000)
    expect(rows.nth(1)).to_contain_text("min(value")
    window.press("ArrowDown")
    window.expect_drawn("max(low, min(value, high))")
    window.press("Enter")
    window.expect_saved(source.replace("║", "max(low, min(value, high))"))
    window.press("Control+z")
    window.expect_saved(source.replace("║", ""))


def test_all_cursors_are_filled_at_once(windows: Windows) -> None:
    source = "WIDTH, HEIGHT = 3, 4\narea = WIDTH * ║\nsize = WIDTH + \n"
    window = windows.open(source, settings={**AT_ONCE, "intarsia.automatic": False})
    window.command("Add Cursor Below")
    window.command("Intarsia: Fill at Every Cursor")
    saved = window.saved_change(source.replace("║", ""))
    assert "area = WIDTH * HEIGHT\n" in saved
    assert "size = WIDTH + HEIGHT" in saved
    window.press("Control+z")
    window.expect_saved(source.replace("║", ""))


def test_a_docstring_is_written_for_the_function_at_the_cursor(windows: Windows) -> None:
    source = "def area(width, height):\n    return width * ║height\n"
    window = windows.open(source, settings=AT_ONCE)
    window.command("Intarsia: Write a Docstring")
    saved = window.saved_change(source.replace("║", ""))
    first, docstring, last = saved.splitlines()
    assert (first, last) == ("def area(width, height):", "    return width * height")
    assert docstring.startswith('    """') and docstring.endswith('"""')
