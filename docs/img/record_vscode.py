"""Draws docs/img/vscode-*.png and the extension's moving pictures: VS Code itself, the real engine.

Run in the repository, on an otherwise idle machine, after `make test-editors` has set it up:
`PYTHONPATH=tests/support:tests/support/editors:tests/real_editors:research/editors \\
  .venv/bin/python docs/img/record_vscode.py`
"""

import io
import tempfile
import time
from pathlib import Path

from installation import EXTENSION, packaged_extension
from PIL import Image
from playwright.sync_api import ViewportSize, expect
from vscode_bench import chromium, loaded_engine, vscode
from vscode_window import VSCodeWindow
from windows import Windows

FOLDER = Path(__file__).parent
IMAGES = EXTENSION / "images"
SIZE = ViewportSize(width=720, height=450)
NUM_COLOURS = 128
FIRST_FRAME_MS = 900
GHOST_FRAME_MS = 1500
LAST_FRAME_MS = 2500
KEY_FRAME_MS = 120
NEXT_EDIT_FRAME_MS = 1600

PLAIN: dict[str, object] = {
    "breadcrumbs.enabled": False,
    "editor.cursorBlinking": "solid",
    "editor.fontSize": 15,
    "editor.lineHeight": 22,
    "editor.overviewRulerBorder": False,
    "editor.renderLineHighlight": "none",
    "editor.scrollBeyondLastLine": False,
    "editor.scrollbar.vertical": "hidden",
    "editor.stickyScroll.enabled": False,
    "keyboard.layout": "",
    "window.commandCenter": False,
    "workbench.activityBar.location": "hidden",
    "workbench.layoutControl.enabled": False,
}

STACK = '''class Stack:
    """A last-in, first-out pile of values."""

    def __init__(self):
        self.values = []

    def push(self, value):
        self.values.append(value)

    def pop(self):
        """Return the newest value, or None."""║


stack = Stack()
'''


EMPTY_STACK = '''class Stack:
    """A last-in, first-out pile of values."""

    def __init__(self):
        self.values = []

    def push(self, value):
        ...║

    def pop(self):
        ...
'''

USER = """type User = { name: string; mail║: string };

function greet(user: User): string {
  return `Hello ${user.name}`;
}

function sender(user: User): string {
  return `${user.name} <${user.mail}>`;
}

function isKnown(user: User, known: Set<string>): boolean {
  return known.has(user.mail);
}
"""


def main() -> None:
    """Draw every picture."""
    with (
        loaded_engine() as address,
        chromium() as browser,
        vscode(address, packaged_extension(), PLAIN) as server,
        tempfile.TemporaryDirectory() as folder,
        Windows(server=server, browser=browser, folder=Path(folder), size=SIZE, scale=2) as sharp,
    ):
        draw_a_draft(sharp)
        draw_ghost_text(sharp)
        draw_a_preview(sharp)
        draw_the_menu(sharp)
        with Windows(server=server, browser=browser, folder=Path(folder), size=SIZE) as plain:
            record_settling(plain)
    record_next_edits()


def draw_a_draft(windows: Windows) -> None:
    """The first moment at which settled and unsettled text stand side by side."""
    window = open_plainly(windows, STACK, "stack.py")
    window.press("Enter")
    window.page.wait_for_function("/\\w{4}.*·{3}/.test(intarsia.draft())")
    window.page.screenshot(path=FOLDER / "vscode-draft.png")


def draw_ghost_text(windows: Windows) -> None:
    window = open_plainly(windows, STACK, "stack.py")
    window.press("Enter")
    window.ghost_text()
    window.page.screenshot(path=FOLDER / "vscode-ghost-text.png")


def draw_a_preview(windows: Windows) -> None:
    window = open_plainly(windows, EMPTY_STACK, "stack.py")
    window.command("Intarsia: Fill All Holes")
    preview = window.page.locator(".monaco-diff-editor .editor.modified")
    preview.locator(".line-insert").first.wait_for(timeout=60_000)
    expect(window.message()).to_have_count(0)
    window.page.screenshot(path=FOLDER / "vscode-preview.png")


def draw_the_menu(windows: Windows) -> None:
    window = open_plainly(windows, STACK, "stack.py")
    window.press("Enter")
    window.ghost_text()
    window.status.click()
    window.page.locator(".quick-input-list .monaco-list-row").first.wait_for()
    window.page.wait_for_function(  # it fades in
        "document.getAnimations().every(it => it.playState === 'finished' || !it.effect"
        " || it.effect.getComputedTiming().endTime === Infinity)"
    )
    window.page.screenshot(path=FOLDER / "vscode-menu.png")


def record_settling(windows: Windows) -> None:
    """A suggestion settles and is accepted: each frame as long as it was on show."""
    window = open_plainly(windows, STACK, "stack.py")
    frames = [(window.page.screenshot(), FIRST_FRAME_MS)]
    window.press("Enter")
    drawn, since = "", time.monotonic()
    picture = window.page.screenshot()
    while not window.page.evaluate("intarsia.ghost()"):
        now = window.page.evaluate("intarsia.draft()")
        if now != drawn:
            frames.append((picture, round(1000 * (time.monotonic() - since))))
            drawn, since, picture = now, time.monotonic(), window.page.screenshot()
    frames.append((picture, round(1000 * (time.monotonic() - since))))
    frames.append((window.page.screenshot(), GHOST_FRAME_MS))
    window.press("Tab")
    window.expect_ghost_text("")
    frames.append((window.page.screenshot(), LAST_FRAME_MS))
    write_moving_picture(frames, IMAGES / "ghost-text.gif")


def record_next_edits() -> None:
    """A field is renamed; one key after the other goes to its uses and corrects them."""
    settings = {**PLAIN, "intarsia.nextEdit": "bold", "editor.inlineSuggest.enabled": False}
    with (
        loaded_engine() as address,
        chromium() as browser,
        vscode(address, packaged_extension(), settings) as server,
        tempfile.TemporaryDirectory() as folder,
        Windows(server=server, browser=browser, folder=Path(folder), size=SIZE) as windows,
    ):
        window = open_plainly(windows, USER, "user.ts")
        frames = [(window.page.screenshot(), FIRST_FRAME_MS)]
        for key in ["Backspace"] * len("mail"):
            window.press(key)
            frames.append((window.page.screenshot(), KEY_FRAME_MS))
        for letter in "email":
            window.type(letter)
            frames.append((window.page.screenshot(), KEY_FRAME_MS))
        window.expect_drawn("⇥ next edit⇥")
        frames.append((window.page.screenshot(), NEXT_EDIT_FRAME_MS))
        for place in ((8, 32), (12, 25)):
            window.press("Tab")  # goes there, and accepts what was shown before
            window.expect_cursor(*place)
            window.page.wait_for_function("intarsia.draft().startsWith('email')")
            frames.append((window.page.screenshot(), NEXT_EDIT_FRAME_MS))
        window.press("Tab")
        window.expect_drawn("")
        expect(window.page.locator(".squiggly-error")).to_have_count(0, timeout=20_000)
        frames.append((window.page.screenshot(), LAST_FRAME_MS))
    write_moving_picture(frames, IMAGES / "next-edits.gif")


def write_moving_picture(frames: list[tuple[bytes, int]], path: Path) -> None:
    """Write the frames, each a picture and its milliseconds, with the colours of the last two."""
    images = [Image.open(io.BytesIO(png)).convert("RGB") for png, _ in frames]
    both = Image.new("RGB", (images[-1].width, 2 * images[-1].height))
    for half, image in enumerate(images[-2:]):
        both.paste(image, (0, half * image.height))
    palette = both.quantize(NUM_COLOURS)
    images = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    first, *rest = images
    first.save(
        path,
        save_all=True,
        append_images=rest,
        duration=[ms for _, ms in frames],
        loop=0,
        optimize=True,
    )


def open_plainly(windows: Windows, source: str, name: str) -> VSCodeWindow:
    """Open a window that shows the editor and the status bar alone."""
    window = windows.open(source, name)
    window.press("Control+b")
    window.page.locator(".part.sidebar").wait_for(state="hidden")
    return window


if __name__ == "__main__":
    main()
