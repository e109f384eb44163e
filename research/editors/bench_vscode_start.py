"""Start of VS Code with and without the extension: from opening a window to its file's text.

Pairs of windows in turn, so that what else the machine does affects both equally.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from code_server import CodeServer
from installation import packaged_extension
from playwright.sync_api import Browser
from sources import SUM
from vscode_bench import chromium, loaded_engine, report, vscode
from windows import Windows

from intarsia.engine.ipc.address import Address


def main() -> None:
    """Measure, print the table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with loaded_engine() as address, chromium() as browser:
        pairs = _measure(address, browser, arguments.pairs)
    bare, ours = zip(*pairs, strict=True)
    difference = statistics.median(later - sooner for sooner, later in pairs)
    rows = [
        ("without the extension", f"{statistics.median(bare):6.0f} ms (median)"),
        ("with the extension", f"{statistics.median(ours):6.0f} ms (median)"),
        ("difference in a pair", f"{difference:6.0f} ms (median of {len(pairs)})"),
    ]
    figures = {"without_ms": bare, "with_ms": ours, "median_difference_ms": difference}
    report(figures, rows, arguments.json)


def _measure(address: Address, browser: Browser, pairs: int) -> list[tuple[float, float]]:
    with (
        vscode(address, None, {}) as bare,
        vscode(address, packaged_extension(), {}) as ours,
    ):
        for server in (bare, ours):
            _time_a_start(server, browser)  # the first window fills caches
        return [(_time_a_start(bare, browser), _time_a_start(ours, browser)) for _ in range(pairs)]


def _time_a_start(server: CodeServer, browser: Browser) -> float:
    """Open a window and close it again; return the ms until the file's text was drawn."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Windows(server=server, browser=browser, folder=Path(folder)) as windows,
    ):
        window = windows.open(SUM, is_ready=False)
        return float(window.page.evaluate("intarsia.textAt"))


if __name__ == "__main__":
    main()
