"""An extension that answers every request for ghost text at once: how soon VS Code can show one."""

from pathlib import Path

from small_extension import write_extension

_PROGRAM = """
const { InlineCompletionItem, languages, Range, StatusBarAlignment, window } = require("vscode");
exports.activate = () => {
  const item = window.createStatusBarItem("intarsia.floor", StatusBarAlignment.Right);
  item.text = "$(check)";
  item.show();
  languages.registerInlineCompletionItemProvider({ pattern: "**" }, {
    provideInlineCompletionItems: (document, at) =>
      [new InlineCompletionItem("left + right", new Range(at, at))],
  });
};
"""


def write_floor_extension(folder: Path) -> Path:
    """Write the extension as a .vsix; return its path."""
    return write_extension(folder, "floor", _PROGRAM, {"activationEvents": ["onStartupFinished"]})
