"""From key to ghost text in VS Code: what is added to the engine's own time, and by whom.

The same key, a space after ``return``, is measured in the page itself, from the key's event to the
ghost text in the document's tree, in three situations: an extension that answers at once (VS Code's
own wait and drawing); ours where the server knows the answer (adds the way to the server and back);
ours where the engine has to be asked, less the engine's own time, with drafts drawn and without.
The option ``debounceMs`` is 0.
"""

import argparse
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from extension_log import ExtensionLog
from floor_extension import write_floor_extension
from installation import packaged_extension
from playwright.sync_api import Browser
from sources import SUM
from vscode_bench import chromium, loaded_engine, p50_p95, percentile, report, vscode
from vscode_window import VSCodeWindow
from windows import Windows

from intarsia.engine.ipc.address import Address

AT_ONCE: dict[str, object] = {"intarsia.debounceMs": 0}
ANSWER = "left + right"
_FILLED = re.compile(r"filled in (\d+) ms")


def main() -> None:
    """Measure, print the table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with (
        loaded_engine() as address,
        chromium() as browser,
        tempfile.TemporaryDirectory() as folder,
    ):
        floor = _floor(address, browser, Path(folder), arguments.rounds)
        ours = _ours(address, browser, Path(folder), arguments.rounds, drafts=True)
        undrawn = _ours(address, browser, Path(folder), arguments.rounds, drafts=False)
    measured = {
        "VS Code alone": floor,
        "known to the server": ours.known,
        "asked, beyond the engine": ours.beyond_engine,
        "asked without drafts, beyond the engine": undrawn.beyond_engine,
        "known, less VS Code alone": [ms - percentile(floor, 50) for ms in ours.known],
        "asked, less VS Code alone": [ms - percentile(floor, 50) for ms in ours.beyond_engine],
        "asked without drafts, less it": [
            ms - percentile(floor, 50) for ms in undrawn.beyond_engine
        ],
    }
    rows = [(name, p50_p95(values)) for name, values in measured.items()]
    engine = {"engine": ours.engine, "engine without drafts": undrawn.engine}
    report({"rounds": arguments.rounds, "ms": measured | engine}, rows, arguments.json)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ours:
    """Milliseconds: of a known answer; of one asked for, less the engine's own; the engine's."""

    known: list[float]
    beyond_engine: list[float]
    engine: list[float]


def _floor(address: Address, browser: Browser, folder: Path, rounds: int) -> list[float]:
    extension = write_floor_extension(folder)
    with (
        vscode(address, extension, AT_ONCE) as server,
        Windows(server=server, browser=browser, folder=folder) as windows,
    ):
        window = windows.open(SUM, is_ready=False)
        window.page.wait_for_selector("[id*='intarsia.floor'] .codicon-check")
        return [_time_a_space(window) for _ in range(rounds)]


def _ours(address: Address, browser: Browser, folder: Path, rounds: int, *, drafts: bool) -> Ours:
    settings = AT_ONCE | {"intarsia.drafts": drafts}
    with (
        vscode(address, packaged_extension(), settings) as server,
        Windows(server=server, browser=browser, folder=folder) as windows,
    ):
        window = windows.open(SUM)
        _time_a_space(window)  # now it is known
        known = [_time_a_space(window) for _ in range(rounds)]
        log = ExtensionLog(server=server)
        asked, engine = [], []
        for number in range(rounds):  # another document each time, so that no answer is known
            window.press("Control+Home")
            window.type(f"# {number}\n")
            window.press(*["ArrowDown"] * 2, "End")
            num_before = len(_fills(log))  # a key of the comment may have been answered too
            asked.append(_time_a_space(window))
            engine.append(_last_fill(log, window, num_before))
            window.press("Control+Home", "Shift+ArrowDown", "Delete", *["ArrowDown"] * 2, "End")
    beyond_engine = [total - own for total, own in zip(asked, engine, strict=True)]
    return Ours(known=known, beyond_engine=beyond_engine, engine=engine)


def _fills(log: ExtensionLog) -> list[float]:
    """Return the engine's own milliseconds, fill by fill."""
    return [float(ms) for line in log.lines() for ms in _FILLED.findall(line)]


def _last_fill(log: ExtensionLog, window: VSCodeWindow, num_before: int) -> float:
    """Return the time of the last fill once there are more; the log is written a little later."""
    for _ in range(200):
        if len(fills := _fills(log)) > num_before:
            return fills[-1]
        window.page.wait_for_timeout(10)
    raise AssertionError("the log tells of no fill")


def _time_a_space(window: VSCodeWindow) -> float:
    """Type a space, wait for the ghost text, take the space back; return ms from key to text."""
    window.page.evaluate("intarsia.history.length = 0")
    window.type(" ")
    window.expect_ghost_text(ANSWER)
    shown_at = next(entry["at"] for entry in window.history() if entry["ghost"] == ANSWER)
    pressed_at = window.page.evaluate("intarsia.keys.at(-1)")
    window.press("Backspace")
    window.expect_ghost_text("")
    return float(shown_at - pressed_at)


if __name__ == "__main__":
    main()
