"""One window of VS Code, as a user has it: keys go in, what is drawn and what is saved come out."""

import contextlib
import json
import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

SHOWN_TEXT = Path(__file__).with_name("shown_text.js").read_text()

_DRAWN_LINES = """lines => lines
    .toSorted((one, other) => parseFloat(one.style.top) - parseFloat(other.style.top))
    .map(line => line.textContent)"""

ANSWER_MS = 60_000
"""How long the real engine may take, on a machine that does other work too."""

SAVING_S = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class VSCodeWindow:
    """A page that shows one workspace with one file open."""

    page: Page
    file: Path

    def expect_ready(self) -> None:
        expect(self.status.locator(".codicon-check")).to_be_visible(timeout=ANSWER_MS)

    def open_file(self, file: Path) -> "VSCodeWindow":
        """Show another file of the workspace; return this window with it."""
        self.press("Control+p")
        field = self.page.locator(".quick-input-widget input[type=text]")
        expect(field).to_be_focused()
        field.fill(str(file))
        self.choose(file.name)
        expect(self.page.locator(".tab.active")).to_contain_text(file.name)
        if file.suffix != ".ipynb":  # in a notebook, no cell has the focus yet
            focused = f'.monaco-editor.focused[data-uri*="{quote(file.name)}"]'
            expect(self.page.locator(focused)).to_be_visible()  # keys before that are lost
        return replace(self, file=file)

    def expect_the_model_sees(self, words: str) -> str:
        """Run "Show What the Model Sees" until its text has these words; return that text."""
        ends_at = time.monotonic() + ANSWER_MS / 1000
        while True:
            self.command("Intarsia: Show What the Model Sees")
            expect(self.page.locator(".tab", has_text="What the Model Sees")).to_be_visible()
            self.page.wait_for_timeout(1000)  # until it is drawn
            if words in (seen := self.text_of("What the Model Sees")):
                return seen
            assert time.monotonic() < ends_at, f"the model sees no {words!r} but {seen}"

    def text_of(self, name: str) -> str:
        """Return the drawn text of the editor that shows the document with this name."""
        shown = self.page.locator(f'.monaco-editor[data-uri*="{quote(name)}"] .view-line')
        expect(shown.first).to_be_visible()
        lines = shown.evaluate_all(_DRAWN_LINES)
        return "\n".join(str(line).replace("\u00a0", " ") for line in lines)

    def press(self, *keys: str) -> None:
        """Press keys one after the other: ``Tab``, ``Control+Right``, ``Alt+]``."""
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def command(self, title: str) -> None:
        """Run a command by its title, through the command palette."""
        self.press("F1")
        field = self.page.locator(".quick-input-widget input[type=text]")
        expect(field).to_be_focused()
        field.fill(f">{title}")
        self.choose(title)

    def choose(self, label: str) -> None:
        """Take the row of the open list that begins with the label."""
        row = self.page.locator(".quick-input-list .monaco-list-row").filter(
            has=self.page.locator(".quick-input-list-label", has_text=re.compile(re.escape(label)))
        )
        row.first.click()

    def ghost_text(self) -> str:
        return self.other_ghost_text("")

    def other_ghost_text(self, than: str) -> str:
        """Wait until something else is shown (the empty text: nothing); return it."""
        self._wait_for("text => intarsia.ghost() !== text", than)
        return str(self.page.evaluate("intarsia.ghost()"))

    def ghost_text_within(self, ms: float) -> str:
        """Wait so long at most for ghost text; return what is shown, which may be nothing."""
        with contextlib.suppress(PlaywrightTimeoutError):
            self.page.wait_for_function("intarsia.ghost() !== ''", timeout=ms)
        return str(self.page.evaluate("intarsia.ghost()"))

    def expect_ghost_text(self, text: str) -> None:
        """Wait until exactly this is shown; the empty text: until none is."""
        self._wait_for("text => intarsia.ghost() === text", text)

    def _wait_for(self, condition: str, text: str) -> None:
        try:
            self.page.wait_for_function(condition, arg=text, timeout=ANSWER_MS)
        except PlaywrightTimeoutError as error:
            shown = self.page.evaluate("intarsia.ghost()")
            raise AssertionError(f"shown is {shown!r}; waited for {condition}, {text!r}") from error

    def expect_drawn(self, text: str) -> None:
        """Wait until the decorations of the code draw exactly this, line by line."""
        try:
            self.page.wait_for_function(
                "text => intarsia.draft().trimEnd() === text", arg=text, timeout=ANSWER_MS
            )
        except PlaywrightTimeoutError as error:
            drawn = self.page.evaluate("intarsia.draft()")
            raise AssertionError(f"drawn is {drawn!r}, not {text!r}") from error

    def history(self) -> list[dict[str, Any]]:
        """Return each ghost text and draft that was drawn, and when (ms)."""
        return list(self.page.evaluate("intarsia.history"))

    def expect_saved(self, text: str) -> None:
        """Save the file until it holds exactly this text on the disk, line ends included."""
        ends_at = time.monotonic() + SAVING_S
        self.press("Control+s")
        while (found := self.file.read_bytes()) != text.encode():
            assert time.monotonic() < ends_at, f"saved is {found.decode()!r}, not {text!r}"
            self.page.wait_for_timeout(200)
            self.press("Control+s")

    def expect_cursor(self, line: int, column: int) -> None:
        """Wait until the cursor is there; both count from 1, columns in characters."""
        expect(self.page.locator("#status\\.editor\\.selection")).to_have_text(
            f"Ln {line}, Col {column}"
        )

    @property
    def status(self) -> Locator:
        return self.page.locator(".statusbar-item[id^='intarsia.intarsia']")

    def expect_status_tells(self, words: str, *, within_ms: float = 30_000) -> None:
        """Wait until the words are in what our item in the status bar says when pointed at."""
        self.page.mouse.move(0, 0)
        self.status.hover()
        told = self.page.locator(".workbench-hover-container")
        expect(told).to_contain_text(words, timeout=within_ms)
        self.page.mouse.move(0, 0)

    def expect_hover(self, words: str) -> None:
        """Wait until a language server says these words about what is at the cursor."""
        hover = self.page.locator(".monaco-hover", has_text=words).first
        for _ in range(10):  # it says nothing while it is still starting
            self.press("Control+k", "Control+i")
            with contextlib.suppress(AssertionError):
                expect(hover).to_be_visible(timeout=5_000)
                self.press("Escape")
                return
            self.press("Escape")
        raise AssertionError(f"no hover with {words!r}")

    def saved_change(self, before: str) -> str:
        """Wait until the saved file holds something else than before; return it."""
        ends_at = time.monotonic() + ANSWER_MS / 1000
        while (found := self.file.read_bytes()) in (before.encode(), b""):
            assert time.monotonic() < ends_at, "the document has not changed"
            self.press("Control+s")
            self.page.wait_for_timeout(200)
        return found.decode()

    def choose_action(self, title: str) -> None:
        """Open the menu of code actions, and take the first one with these words."""
        action = self.page.locator(".action-widget .monaco-list-row.action", has_text=title).first
        self.press("Control+.")
        for _ in range(10):  # there are none until the server has said which it has
            try:
                action.click(timeout=5_000)
                return
            except PlaywrightTimeoutError:
                self.press("Control+.")
        raise AssertionError(f"no code action {title!r}")

    def message(self) -> Locator:
        return self.page.locator(".notifications-toasts .notification-list-item-message")

    def write_settings(self, settings: dict[str, object]) -> None:
        path = self.file.parent / ".vscode" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(settings))

    def change_settings(self, settings: dict[str, object]) -> None:
        """Write the workspace's settings; return once VS Code goes by them."""
        self.write_settings({**settings, "editor.lineNumbers": "off"})
        expect(self.page.locator(".margin-view-overlays .line-numbers")).to_have_count(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class NotebookWindow(VSCodeWindow):
    """A page that shows one notebook."""

    def enter_cell(self, number: int) -> None:
        """Put the cursor at the end of a code cell; cells count from 0."""
        editor = self.page.locator(".notebook-editor .cell-list-container .monaco-editor")
        for _ in range(10):  # the cells move while the outputs are drawn
            editor.nth(number).locator(".view-lines").click()
            with contextlib.suppress(AssertionError):
                expect(editor.nth(number)).to_have_class(re.compile("focused"), timeout=2_000)
                break
        self.press("Control+End")
