"""Opens VS Code windows on workspaces of a test's own."""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlencode

from code_server import CodeServer, code_server
from installation import packaged_extension
from marked_text import read_marked
from playwright.sync_api import Browser, Page, ViewportSize, expect
from vscode_window import SHOWN_TEXT, NotebookWindow, VSCodeWindow

from intarsia.engine.ipc.address import Address

CHROMIUM_FLAGS = (
    "--no-sandbox",  # which root's Chromium cannot have
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
expect.set_options(timeout=30_000)  # a window opens slowly on a busy machine
SIZE: ViewportSize = {"width": 1280, "height": 800}


@dataclass(frozen=True, kw_only=True, slots=True)
class Windows:
    """The windows of one test; a context that closes them."""

    server: CodeServer
    browser: Browser
    folder: Path
    size: ViewportSize = field(default_factory=lambda: SIZE)
    scale: float = 1  # of the pictures that are taken
    locale: str = "en-US"
    _stack: ExitStack = field(default_factory=ExitStack)

    def open(
        self,
        source: str,
        name: str = "example.py",
        *,
        settings: dict[str, object] | None = None,
        others: Mapping[str, str] | None = None,
    ) -> VSCodeWindow:
        """Open a new workspace with this file in it; a ``║`` in the source is the cursor.

        The settings are the workspace's own; ``others`` are more files in it, by name. Return once
        our extension has its model.
        """
        marked = read_marked(source)
        workspace = self._new_folder()
        for other, text in (others or {}).items():
            (workspace / other).write_bytes(text.encode())
        file = workspace / name
        file.write_bytes(marked.text.encode())
        window = VSCodeWindow(page=self._new_page(), file=file)
        if settings is not None:
            window.write_settings(settings)
        before = marked.text[: marked.start]
        line, in_line = before.count("\n") + 1, before.rpartition("\n")[2]
        units = len(in_line.encode("utf-16-le")) // 2
        window.page.goto(self.server.url(workspace, (file, line, units + 1)))
        window.expect_cursor(line, len(in_line) + 1)
        window.expect_ready()
        return window

    def open_notebook(self, content: str) -> NotebookWindow:
        """Open a new workspace with a notebook of this content; return once there is a model."""
        file = self._new_folder() / "example.ipynb"
        file.write_text(content)
        window = NotebookWindow(page=self._new_page(), file=file)
        window.page.goto(self.server.url(file.parent))
        expect(window.page.locator(".explorer-viewlet")).to_contain_text(file.name)
        window.open_file(file)
        window.expect_ready()
        return window

    def open_roots(self, roots: Mapping[str, Mapping[str, str]], file: str) -> VSCodeWindow:
        """Open several folders in one window: texts by folder and name; one file is shown."""
        folder = self._new_folder()
        for root, texts in roots.items():
            for name, text in texts.items():
                path = folder / root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        workspace = folder / "both.code-workspace"
        workspace.write_text(json.dumps({"folders": [{"path": root} for root in roots]}))
        window = VSCodeWindow(page=self._new_page(), file=folder / file)
        window.page.goto(self.server.url(workspace, (window.file, 1, 1)))
        window.expect_cursor(1, 1)
        folders = window.page.locator(".explorer-viewlet .monaco-list-row")
        for _ in range(10):  # at times VS Code reads the list before it reaches the files
            with contextlib.suppress(AssertionError):
                expect(folders.first).to_be_visible(timeout=3_000)
                break
            workspace.touch()
        expect(folders.first).to_be_visible()
        window.expect_ready()
        return window

    def open_virtual(self, workspace: Path, uri: str) -> VSCodeWindow:
        """Show a file of a virtual folder, in a window on this ``.code-workspace`` file."""
        name = uri.rpartition("/")[2]
        window = VSCodeWindow(page=self._new_page(), file=Path(name))
        payload = json.dumps([["openFile", uri]])
        window.page.goto(f"{self.server.url(workspace)}&{urlencode({'payload': payload})}")
        expect(window.page.locator(".tab.active")).to_contain_text(name)
        window.expect_ready()
        return window

    def take_pictures(self, name: Path) -> None:
        """Save how each window looks now, as the name with the window's number."""
        pages = [page for context in self.browser.contexts for page in context.pages]
        for number, page in enumerate(pages):
            page.screenshot(path=f"{name}-{number}.png")

    def _new_folder(self) -> Path:
        folder = self.folder / f"workspace-{len(list(self.folder.iterdir()))}"
        folder.mkdir()
        return folder

    def _new_page(self) -> Page:
        context = self._stack.enter_context(
            self.browser.new_context(
                viewport=self.size, device_scale_factor=self.scale, locale=self.locale
            )
        )
        page = context.new_page()
        page.add_init_script(SHOWN_TEXT)
        return page

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()


@contextmanager
def own_windows(
    address: Address,
    browser: Browser,
    folder: Path,
    *,
    settings: Mapping[str, object],
    extensions: Sequence[Path] = (),
    trusts_workspaces: bool = True,
) -> Iterator[Windows]:
    """Run a VS Code of the test's own with our extension and others; yield its windows."""
    workspaces = folder / "workspaces"
    workspaces.mkdir()
    with (
        code_server(
            folder / "vscode",
            {**os.environ, **address.as_environment()},
            extensions=[packaged_extension(), *extensions],
            settings=settings,
            trusts_workspaces=trusts_workspaces,
        ) as server,
        Windows(server=server, browser=browser, folder=workspaces) as windows,
    ):
        yield windows
