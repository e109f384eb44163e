"""Rename everywhere in VS Code, by the language server of its own TypeScript extension."""

import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect
from rule_server import rule_server_command
from scripted_next_edits import rule
from vscode_window import VSCodeWindow
from windows import Windows

from conftest import PATIENT

SOURCE = """\
export function area║(a: number, b: number): number {
  return a * b;
}

console.log(area(1, 2));
console.log("the area", area(3, 4)); // the area
"""
OTHER = 'import { area } from "./example";\n\nconsole.log(area(5, 6));\n'
BEFORE = SOURCE.replace("║", "")
TYPED = BEFORE.replace("function area", "function size")
RENAMED = BEFORE.replace("area(", "size(")
RULES = [
    rule("log(area(1", "log(size(1"),
    rule("print(area", "print(größe"),
    rule("console.log(2", "console.print(2"),
]
SETTINGS: dict[str, object] = {
    **PATIENT,
    "intarsia.serverCommand": list(rule_server_command(next_edits=RULES)),
    "intarsia.fillAhead": "off",
    "editor.autoClosingBrackets": "never",
}
# An extension that renames in Python, but only once the user has typed something. It writes a file
# when it is asked to: what is typed before that is no longer while VS Code renames.
PROGRAM = """
const { writeFileSync } = require("fs");
const { languages, Range, WorkspaceEdit, workspace } = require("vscode");

async function provideRenameEdits(document, position, newName) {
  const name = document.getText(document.getWordRangeAtPosition(position));
  if (name !== newName) { // it is asked for more than whether it can rename
    const isTyped = new Promise((resolve) => workspace.onDidChangeTextDocument(
      ({ contentChanges }) => contentChanges.length > 0 && resolve(), // it is also told of saving
    ));
    writeFileSync(`${document.fileName}.asked`, "");
    await isTyped;
  }
  const edit = new WorkspaceEdit();
  edit.replace(document.uri, document.getWordRangeAtPosition(position), newName);
  return edit;
}

exports.activate = () => languages.registerRenameProvider("python", { provideRenameEdits });
"""
SERVER_MS = 60_000
"""How long the first answer of a language server may take on a busy machine."""


def typed(windows: Windows) -> VSCodeWindow:
    """Type another name for the function; return once all of its offer is marked."""
    window = windows.open(SOURCE, "example.ts", others={"other.ts": OTHER, "tsconfig.json": "{}"})
    expect(window.page.get_by_text("Initializing TS/JS")).to_have_count(0, timeout=SERVER_MS)
    window.press(*["Backspace"] * len("area"))
    window.type("size")
    window.expect_drawn("F2 renames everywhere, 2 uses in 1 other file⇥ next edit⇥")
    return window


def expect_file(file: Path, text: str) -> None:
    until(lambda: file.read_text() == text, file.read_text)


def until(holds: Callable[[], bool], otherwise: Callable[[], str]) -> None:
    ends_at = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < ends_at, otherwise()
        time.sleep(0.1)


def test_a_key_renames_in_all_files_and_one_undo_takes_it_back(windows: Windows) -> None:
    window = typed(windows)
    window.press("Alt+]")
    window.expect_drawn("sizeF2 renames everywhere, 2 uses in 1 other file⇥")
    window.press("F2")
    window.expect_drawn("")
    window.expect_saved(RENAMED)
    other = window.file.with_name("other.ts")
    expect_file(other, OTHER.replace("area", "size"))

    window.press("Control+z")
    window.expect_saved(BEFORE)
    window.expect_drawn("")
    window.command("File: Save All")  # a rename saves the other file, an undo does not
    expect_file(other, OTHER)


def test_it_is_the_first_choice_and_the_list_the_second(windows: Windows) -> None:
    window = typed(windows)
    window.press("Alt+]")
    window.expect_drawn("sizeF2 renames everywhere, 2 uses in 1 other file⇥")
    window.command("Intarsia: Apply All Next Edits")
    expect(window.page.locator(".quick-input-list .monaco-list-row.focused")).to_contain_text(
        "Rename area to size everywhere"
    )
    window.choose("Apply 2 next edits of this file")
    window.expect_drawn("F2 renames everywhere, 2 uses in 1 other filesizesize")
    window.press("Enter")
    window.expect_saved(RENAMED)
    assert window.file.with_name("other.ts").read_text() == OTHER


def test_what_the_language_server_refuses_loses_nothing(windows: Windows) -> None:
    source = "console.log║(1);\nconsole.log(2);\n"
    window = windows.open(source, "example.ts", others={"tsconfig.json": "{}"})
    expect(window.page.get_by_text("Initializing TS/JS")).to_have_count(0, timeout=SERVER_MS)
    window.press(*["Backspace"] * len("log"))
    window.type("print")
    window.expect_drawn("⇥ next edit")
    window.press("Alt+]")
    window.expect_drawn("printF2 renames everywhere")
    window.press("F2")
    expect(window.message()).to_contain_text("not renamed, and the offers are as before: You cann")
    window.expect_drawn("⇥ next edit")
    now = source.replace("║", "").replace("log(1", "print(1")
    window.expect_saved(now)
    window.press("Alt+]", "Alt+]")
    window.expect_saved(now.replace("log(2", "print(2"))


def test_what_is_typed_while_it_is_renamed_stays(windows: Windows) -> None:
    source = "def area║(a):\n    return a\n\n\nprint(area(1))\n"
    before = source.replace("║", "")
    window = windows.open(source)
    window.press(*["Backspace"] * len("area"))
    window.type("größe")
    window.expect_drawn("⇥ next edit")
    window.press("Alt+]")
    window.expect_drawn("größeF2 renames everywhere")
    window.press("F2")
    asked = window.file.with_name(f"{window.file.name}.asked")
    until(asked.exists, lambda: "VS Code did not ask the extension")
    window.press("Control+Home")
    window.type("async ")
    expect(window.message()).to_contain_text("the document has changed")
    window.expect_saved("async " + before.replace("def area", "def größe"))
