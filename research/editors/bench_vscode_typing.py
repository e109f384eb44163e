"""Minutes of typing in VS Code with ghost text on: is a key lost, or a text put in a wrong place?

Real source is typed at a human's speed, with slips and pauses; some of the suggestions that appear
are accepted, and the rest that the typist did not want is deleted. Beside the editor runs a model
of the document. Once a minute, and at the end, the saved file must be the model, and the cursor
must be where the model's is.
"""

import argparse
import random
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from extension_log import ExtensionLog
from installation import packaged_extension
from typing_plan import Key, standard_library_text, typed
from vscode_bench import chromium, loaded_engine, report, vscode
from vscode_window import VSCodeWindow
from windows import Windows

AS_TYPED: dict[str, object] = {
    f"editor.{name}": value
    for name, value in {
        "acceptSuggestionOnEnter": "off",
        "autoClosingBrackets": "never",
        "autoClosingDelete": "never",
        "autoClosingOvertype": "never",
        "autoClosingQuotes": "never",
        "autoIndent": "none",
        "autoSurround": "never",
        "detectIndentation": False,
        "formatOnType": False,
        "trimAutoWhitespace": False,
        "useTabStops": False,
    }.items()
}
"""VS Code adds nothing of its own to what is typed."""

LONGEST_TAKEN_BACK = 60
MOMENT_MS = 2000
TAB = " " * 4


@dataclass(kw_only=True, slots=True)
class Tally:
    """What happened."""

    keys: int = 0
    checks: int = 0
    accepted: int = 0
    accepted_characters: int = 0
    wrong_documents: int = 0
    wrong_cursors: int = 0
    problems_logged: int = 0


def main() -> None:
    """Type, compare, print the table, write JSON; the exit code is 1 where anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with (
        loaded_engine() as address,
        chromium() as browser,
        vscode(address, packaged_extension(), AS_TYPED) as server,
        tempfile.TemporaryDirectory() as folder,
        Windows(server=server, browser=browser, folder=Path(folder)) as windows,
    ):
        log = ExtensionLog(server=server)
        typist = Typist(windows.open("║"), random.Random(arguments.seed))
        typist.type_for(arguments.minutes)
        tally = typist.tally
        problems = log.problems()
        tally.problems_logged = len(problems)
    rows = [(name.replace("_", " "), str(value)) for name, value in asdict(tally).items()]
    report({**asdict(tally), "problems": problems}, rows, arguments.json)
    sys.exit(bool(tally.wrong_documents or tally.wrong_cursors or problems))


class Typist:
    """Types into one window and knows what must stand there; the cursor is always at the end."""

    def __init__(self, window: VSCodeWindow, chance: random.Random) -> None:
        self.tally = Tally()
        self._window = window
        self._chance = chance
        self._text = ""

    def type_for(self, minutes: float) -> None:
        """Type until the time is over, comparing once a minute and at the end."""
        source = standard_library_text()
        ends_at = time.monotonic() + 60 * minutes
        compare_at = time.monotonic() + 60
        at = source.index("\ndef ", self._chance.randrange(len(source) // 2)) + 1
        while time.monotonic() < ends_at:
            piece = source[at : source.index("\n", at) + 1]
            begun = len(piece) - len(piece.lstrip()) + 2
            stops = self._chance.random() < 0.3 and begun < len(piece)
            if stops:  # somewhere in the line, to see what is suggested
                piece = piece[: self._chance.randrange(begun, len(piece))]
            for key in typed(piece, self._chance):
                self._press(key)
            at += len(piece)
            if stops:
                at += self._accept_what_fits(source[at:])
            if time.monotonic() > compare_at:
                self._compare()
                compare_at = time.monotonic() + 60
        self._compare()

    def _press(self, key: Key) -> None:
        self._window.page.wait_for_timeout(key.pause_ms)
        self._window.press(key.name)
        self.tally.keys += 1
        if key.name == "Backspace":
            self._text = self._text[:-1]
        else:
            self._text += "\n" if key.name == "Enter" else key.name

    def _accept_what_fits(self, wanted: str) -> int:
        """Accept what is shown within a moment; take back what was not wanted; return what is left.

        What is left is counted in characters of the wanted text.
        """
        shown = self._window.ghost_text_within(MOMENT_MS)
        is_indented = shown.startswith(TAB)  # then VS Code's Tab indents, and accepts nothing
        if is_indented or not 0 < len(shown) <= LONGEST_TAKEN_BACK:
            return 0
        self._window.press("Tab")
        self._text += shown
        self.tally.accepted += 1
        self.tally.accepted_characters += len(shown)
        self._window.other_ghost_text(shown)
        kept = len(_common_beginning(shown, wanted))
        for _ in range(len(shown) - kept):
            self._press(Key(name="Backspace", pause_ms=30))
        return kept

    def _compare(self) -> None:
        """Count a saved document, and a cursor, that are not the model's."""
        self.tally.checks += 1
        line = self._text.count("\n") + 1
        column = len(self._text.rpartition("\n")[2]) + 1
        try:
            self._window.expect_saved(self._text)
        except AssertionError as error:
            self.tally.wrong_documents += 1
            print(error, file=sys.stderr)  # noqa: T201
            self._text = self._window.file.read_text()
        try:
            self._window.expect_cursor(line, column)
        except AssertionError as error:
            self.tally.wrong_cursors += 1
            print(error, file=sys.stderr)  # noqa: T201


def _common_beginning(one: str, other: str) -> str:
    length = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return one[:length]


if __name__ == "__main__":
    main()
