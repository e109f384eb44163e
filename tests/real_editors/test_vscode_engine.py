"""VS Code and the one engine: shared by windows, started again when it has been killed."""

import os
import signal

from engine_counts import engine_status
from extension_log import ExtensionLog
from sources import SUM
from windows import Windows

from intarsia.engine.ipc.address import Address


def test_two_windows_share_one_engine_and_what_it_has_read(
    windows: Windows, real_engine_runtime: Address, log: ExtensionLog
) -> None:
    before = engine_status(real_engine_runtime)
    for source in (SUM, SUM):
        window = windows.open(source)
        window.type(" ")
        window.expect_ghost_text("left + right")
        window.expect_saved(SUM.replace("║", " "))
    after = engine_status(real_engine_runtime)
    assert after.pid == before.pid
    assert after.num_clients >= 3  # both windows and the one who asks
    filled = [line for line in log.lines() if "filled in" in line]
    assert len(filled) == 2
    assert "context tokens: 0 computed" in filled[-1]


def test_a_killed_engine_is_started_again_by_the_next_request(
    windows: Windows, real_engine_runtime: Address, log: ExtensionLog
) -> None:
    window = windows.open(SUM)
    window.type(" ")
    window.expect_ghost_text("left + right")
    killed = engine_status(real_engine_runtime).pid
    os.kill(killed, signal.SIGKILL)
    log.forgive("engine")
    window.press("Tab")
    window.expect_cursor(3, 24)
    window.press("Control+End")
    window.type("total = ")
    assert window.ghost_text()
    window.expect_saved(SUM.replace("║", " left + right") + "total = ")
    assert engine_status(real_engine_runtime).pid != killed
    window.expect_status_tells("Ready: qwen2.5-coder-0.5b")
