"""Next edits in VS Code: marked, shown, accepted in a chain, dismissed, applied at once."""

from playwright.sync_api import expect
from rule_server import rule_server_command
from scripted_next_edits import rule
from vscode_window import VSCodeWindow
from windows import Windows

from conftest import PATIENT

SOURCE = """\
if  area║(a, b):
    return a * b


print(area(1, 2))
print(area(3, 4))
if True:
    print(area(5, 6))
print("the end")
"""
BEFORE = SOURCE.replace("║", "")
RULES = [
    rule("(area(1", "(size(1"),
    rule("(area(3", "(size(3"),
    rule("    print(area(5, 6))", "    width = 5\n    print(size(width, 6))"),
    rule("(url, 30)", "(url, timeout=30)"),
]
AFTER = (
    BEFORE.replace("area", "size")
    .replace("size(5, 6)", "size(width, 6)")
    .replace("    print(size(width", "    width = 5\n    print(size(width")
)
SETTINGS: dict[str, object] = {
    **PATIENT,
    "intarsia.serverCommand": list(rule_server_command(next_edits=RULES)),
    "intarsia.fillAhead": "off",
    "intarsia.nextEdit": "bold",
    "editor.autoClosingBrackets": "never",
}


def rename(windows: Windows, settings: dict[str, object] | None = None) -> VSCodeWindow:
    """Rename the function, by keys; return once the offers are marked."""
    window = windows.open(SOURCE, settings=settings)
    window.press(*["Backspace"] * len("area"))
    window.type("size")
    window.expect_drawn("⇥ next edit⇥")
    return window


def test_a_key_shows_accepts_and_goes_on_and_escape_dismisses(windows: Windows) -> None:
    window = rename(windows)
    window.press("Tab")
    window.expect_cursor(5, 7)
    window.expect_drawn("size⇥")
    window.expect_saved(BEFORE.replace("if  area", "if  size"))
    window.press("Tab")
    window.expect_cursor(6, 7)
    window.expect_drawn("size⇥")
    window.press("Escape")
    window.expect_drawn("⇥ next edit")
    window.press("Tab")
    window.expect_cursor(8, 5)
    window.expect_drawn("+     width = 5             +     print(size(width, 6))")
    window.press("Tab")
    window.expect_drawn("")
    dismissed = AFTER.replace("size(3", "area(3")
    window.expect_saved(dismissed)

    window.press("Control+z")  # nothing comes right after undo
    window.expect_saved(dismissed.replace("    width = 5\n", "").replace("size(width", "area(5"))
    window.expect_drawn("")


def test_a_screen_reader_says_where_an_offer_is_and_what_it_would_change(windows):
    window = rename(windows, {"editor.accessibilitySupport": "on"})
    said = window.page.locator(".statusbar [role=alert]")
    expect(said).to_have_attribute("aria-label", "Intarsia: next edit in line 5, Alt+] shows it")
    window.press("Alt+]")
    words = "Intarsia: line 5 becomes: print(size(1, 2)). Alt+] applies it, Escape dismisses it."
    expect(said).to_have_attribute("aria-label", words)
    window.press("Alt+]")
    expect(said).to_have_attribute("aria-label", words.replace("5", "6").replace("1, 2", "3, 4"))
    window.press("Escape")
    expect(said).to_have_attribute("aria-label", "Intarsia: next edit in line 8, Alt+] shows it")


def test_tab_indents_where_it_is_wanted_and_another_key_still_goes_there(windows):
    window = rename(windows)
    window.press("ArrowDown", "ArrowDown", "Tab")
    window.expect_saved(BEFORE.replace("if  area", "if  size").replace("b\n\n", "b\n    \n"))
    window.expect_drawn("⇥ next edit⇥")
    window.press("Alt+]")
    window.expect_cursor(5, 7)
    window.press("ArrowUp")  # the cursor leaves: nothing is dismissed
    window.expect_drawn("⇥ next edit⇥")


def test_all_are_applied_at_once_but_for_an_unticked_one(windows: Windows) -> None:
    window = rename(windows)
    window.command("Intarsia: Apply All Next Edits")
    window.expect_drawn("sizesize")
    window.choose("Line 6")
    window.expect_drawn("size⇥")
    window.press("Enter")
    one = BEFORE.replace("if  area", "if  size").replace("area(1", "size(1")
    window.expect_saved(one)
    window.press("Control+z")
    window.expect_saved(BEFORE.replace("if  area", "if  size"))


def test_a_change_of_another_document_leaves_it_on_show(windows: Windows) -> None:
    window = windows.open(SOURCE, others={"other.py": "one = 1\n"})
    other = window.open_file(window.file.with_name("other.py"))
    other.command("View: Move Editor into Next Group")
    window.command("View: Focus First Editor Group")
    window.press(*["Backspace"] * len("area"))
    window.type("size")
    window.expect_drawn("⇥ next edit⇥")
    window.press("Tab")
    window.expect_drawn("size⇥")
    other.file.write_text("two = 2\n")
    expect(other.page.locator(".view-line", has_text="two = 2")).to_be_visible()
    window.page.wait_for_timeout(1000)  # until the extension has heard of it, too
    window.expect_drawn("size⇥")
    window.press("Tab")
    window.expect_cursor(6, 7)


def test_where_nothing_is_left_the_key_goes_to_another_file(windows: Windows) -> None:
    other_text = "#\n\nz = fetch(url, 30)\n"
    window = windows.open("y = fetch(url, ║30)\n", others={"other.py": other_text})
    other = window.open_file(window.file.with_name("other.py"))
    window.open_file(window.file)
    window.press("Control+Home", *["ArrowRight"] * len("y = fetch(url, "))
    window.type("timeout=")
    window.expect_drawn("⇥ next edit in other.py:3")
    window.press("Tab")
    other.expect_cursor(3, 16)
    other.expect_drawn("timeout=")
    other.press("Tab")
    other.expect_saved(other_text.replace("30", "timeout=30"))
    other.press("Control+z")
    other.expect_saved(other_text)
    window.open_file(window.file).expect_saved("y = fetch(url, timeout=30)\n")
