"""From a fresh machine to the first accepted suggestion in VS Code, in seconds, stage by stage.

Fresh means: an empty home and cache, no intarsia on the PATH, nothing but the .vsix. What the user
does is done: install it, open a file, press the set-up's two buttons, type, accept. Where this
machine looks for packages (pip's and uv's settings, proxies) is no part of its freshness and stays.
"""

import argparse
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from code_server import code_server
from installation import packaged_extension
from playwright.sync_api import expect
from sources import SUM
from vscode_bench import chromium, report
from vscode_window import VSCodeWindow
from windows import Windows

_KEPT = re.compile(r"PIP_|UV_|HF_ENDPOINT$|SSL_CERT|REQUESTS_CA|LANG$|(?i:\w+_proxy)$")
_DOWNLOADS = ("fetching", "asking the model hub", "downloading", "joining")
LIMIT_S = 1200


def main() -> None:
    """Do it, print seconds per stage, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path, help="where to save how the window looks at last")
    arguments = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="int-"))
    try:
        stages = _first_suggestion(home, arguments.picture)
    finally:
        _end_what_was_started(home)
        shutil.rmtree(home, ignore_errors=True)
    total = sum(stages.values())
    downloads = sum(s for name, s in stages.items() if name.startswith(_DOWNLOADS))
    rows = [(name, f"{seconds:7.1f} s") for name, seconds in stages.items()]
    rows += [("all", f"{total:7.1f} s"), ("without what downloads", f"{total - downloads:7.1f} s")]
    figures = {"stages_s": stages, "total_s": total, "downloading_stages_s": downloads}
    report(figures, rows, arguments.json)


@dataclass(kw_only=True, slots=True)
class Stopwatch:
    """Seconds per stage, in the order in which the stages first came."""

    stages: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.monotonic)

    def lap(self, stage: str) -> None:
        """Count the time since the last lap as this stage's."""
        now = time.monotonic()
        self.stages[stage] = self.stages.get(stage, 0.0) + now - self._last
        self._last = now


def _first_suggestion(home: Path, picture: Path | None) -> dict[str, float]:
    watch = Stopwatch()
    (home / "workspaces").mkdir()
    with (
        chromium() as browser,
        code_server(
            home / "vscode", _bare_environment(home), extensions=[packaged_extension()], settings={}
        ) as server,
        Windows(server=server, browser=browser, folder=home / "workspaces") as windows,
    ):
        watch.lap("installing the extension, starting VS Code")
        window = windows.open(SUM, is_ready=False)
        window.page.get_by_role("button", name="Set Up…").click()
        window.page.get_by_role("button", name="Download and Set Up").click()
        watch.lap("opening a file, consenting")
        _follow_the_status(window, watch)
        window.page.locator(".view-line").nth(2).click()
        window.press("End")
        window.type(" ")
        window.expect_ghost_text("left + right")
        watch.lap("the first suggestion")
        window.press("Tab")
        window.expect_cursor(3, 24)
        window.expect_saved(SUM.replace("║", " left + right"))
        watch.lap("accepting it")
        if picture is not None:
            window.page.screenshot(path=picture)
    return watch.stages


def _follow_the_status(window: VSCodeWindow, watch: Stopwatch) -> None:
    """Count the time of each stage that the status item tells of, until the model is ready."""
    hover = window.page.locator(".workbench-hover-container")
    stage, ends_at = "", time.monotonic() + LIMIT_S
    while not stage.startswith("Ready: "):
        assert time.monotonic() < ends_at, f"still at: {stage}"
        if stage:
            watch.lap(stage)
        if not hover.is_visible():
            window.page.mouse.move(0, 0)
            window.status.hover(force=True)
            expect(hover).to_be_visible()
        first_line = hover.locator("p").first.inner_text()
        assert not window.status.locator(".codicon-warning").is_visible(), hover.inner_text()
        stage = re.sub(r"(:(?! q)|\d+ %| \().*", "", first_line).strip()
        window.page.wait_for_timeout(100)


def _bare_environment(home: Path) -> Mapping[str, str]:
    """Return what a program gets on a machine that has only a system's Python."""
    kept = {name: value for name, value in os.environ.items() if _KEPT.match(name)}
    for settings in (Path.home() / ".config/pip/pip.conf", Path.home() / ".pip/pip.conf"):
        if settings.exists():
            kept.setdefault("PIP_CONFIG_FILE", str(settings))
    return {**kept, "HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}


def _end_what_was_started(home: Path) -> None:
    """End the engine that the server has started, which would outlive the editor by its design."""
    for process in psutil.process_iter(["environ"]):
        if (process.info["environ"] or {}).get("HOME") == str(home):
            process.kill()


if __name__ == "__main__":
    main()
